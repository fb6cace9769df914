import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    v, i = torch.sort(x, dim=-1, descending=True)
    t, ti = torch.topk(x, 5, dim=-1)
    return v * 2, i, t.softmax(-1), ti

f(torch.randn(40, 200, device="cuda"))

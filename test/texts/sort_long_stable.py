import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    v, i = torch.sort(x + 1, dim=0, stable=True)
    return v, torch.argsort(x, dim=1)

f(torch.randn(3000, 30, device="cuda"))

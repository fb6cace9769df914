import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, w, b):
    return F.linear(x, w, b).relu() @ w

f(torch.randn(333, 257, device="cuda", dtype=torch.float16), torch.randn(511, 257, device="cuda", dtype=torch.float16), torch.randn(511, device="cuda", dtype=torch.float16))

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, s):
    m = x.mean((2, 3), keepdim=True)
    v = x.var((2, 3), keepdim=True, unbiased=False)
    g, b = s.chunk(2, 1)
    return (x - m) / (v + 1e-5).sqrt() * (1 + g[:, :, None, None]) + b[:, :, None, None]

f(torch.randn(4, 33, 40, 41, device="cuda"), torch.randn(4, 66, device="cuda"))

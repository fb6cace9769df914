import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, dt, A, B, C, D, h):
    dt = F.softplus(dt)
    dA = torch.exp(dt.unsqueeze(-1) * A)
    dB = dt.unsqueeze(-1) * B.unsqueeze(1)
    h = h * dA + x.unsqueeze(-1) * dB
    y = (h * C.unsqueeze(1)).sum(-1) + D * x
    return y, h

f(torch.randn(4, 200, device="cuda"), torch.randn(4, 200, device="cuda"), -torch.rand(200, 16, device="cuda"), torch.randn(4, 16, device="cuda"), torch.randn(4, 16, device="cuda"), torch.randn(200, device="cuda"), torch.randn(4, 200, 16, device="cuda"))

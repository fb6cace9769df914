import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    n = torch.randn_like(x)
    u = torch.rand(x.shape, device=x.device)
    return F.dropout(x, 0.3, True) + n * u, torch.randint(0, 10, (5,), device=x.device), torch.bernoulli(u)

f(torch.randn(50, 60, device="cuda"))

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    parts = x.unbind(1)
    return torch.stack([p * (i + 1) for i, p in enumerate(parts)], dim=1), torch.stack(parts, -1)

f(torch.randn(30, 5, 77, device="cuda"))

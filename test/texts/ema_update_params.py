import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(ps, qs, d):
    for p, q in zip(ps, qs):
        p.mul_(d).add_(q, alpha=1 - d)
    return sum((p - q).abs().sum() for p, q in zip(ps, qs))

with torch.no_grad():
    f([torch.randn(40, 50, device="cuda"), torch.randn(64, device="cuda"), torch.randn(3, 3, 8, 8, device="cuda")], [torch.randn(40, 50, device="cuda"), torch.randn(64, device="cuda"), torch.randn(3, 3, 8, 8, device="cuda")], 0.99)

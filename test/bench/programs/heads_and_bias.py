"""Heads split off and made contiguous, with the gradient of the projection bias."""
import torch

torch.manual_seed(0)


@torch.compile
def f(x):
    b, s, c = x.shape
    return x.view(b, s, 16, c // 16).permute(0, 2, 1, 3).contiguous(), x.sum((0, 1))


x = torch.randn(16, 2048, 2048, device="cuda", dtype=torch.bfloat16)
out = f(x)

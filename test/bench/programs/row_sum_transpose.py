"""A row sum and the transposed copy."""
import torch

torch.manual_seed(0)


@torch.compile
def f(x, w):
    y = x * w
    return y.t().contiguous(), y.sum(1)


x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
w = torch.randn(4096, device="cuda", dtype=torch.bfloat16)
out = f(x, w)

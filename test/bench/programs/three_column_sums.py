"""Sum, sum of squares and weighted sum of columns beside the transposed copy."""
import torch

torch.manual_seed(0)


@torch.compile
def f(x, w):
    return x.t().contiguous(), x.sum(0), (x * x).sum(0), (x * w[:, None]).sum(0)


x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
w = torch.randn(16384, device="cuda", dtype=torch.bfloat16)
out = f(x, w)

"""The headline case in float16, tall and narrow."""
import torch

torch.manual_seed(0)


@torch.compile
def f(x):
    return x.t().contiguous(), x.sum(0)


x = torch.randn(100864, 768, device="cuda", dtype=torch.float16)
out = f(x)

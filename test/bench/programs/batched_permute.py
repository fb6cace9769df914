"""A batched transpose and a sum over batch and time."""
import torch

torch.manual_seed(0)


@torch.compile
def f(x):
    return x.transpose(1, 2).contiguous(), x.sum((0, 1))


x = torch.randn(32, 1024, 2048, device="cuda")
out = f(x)

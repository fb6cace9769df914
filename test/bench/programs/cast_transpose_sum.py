"""A float32 gradient transposed as bfloat16 and summed in float32."""
import torch

torch.manual_seed(0)


@torch.compile
def f(x):
    return x.to(torch.bfloat16).t().contiguous(), x.sum(0)


x = torch.randn(16384, 6144, device="cuda")
out = f(x)

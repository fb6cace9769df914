"""The headline case in bfloat16, wider."""
import torch

torch.manual_seed(0)


@torch.compile
def f(x):
    return x.permute(1, 0).contiguous(), x.sum(dim=0)


x = torch.randn(32768, 4096, device="cuda", dtype=torch.bfloat16)
out = f(x)

"""The headline case's shape in bfloat16."""
import torch

torch.manual_seed(0)


@torch.compile
def f(x):
    return x.permute(1, 0).contiguous(), x.sum(dim=0)


x = torch.randn(25216, 3072, device="cuda", dtype=torch.bfloat16)
out = f(x)

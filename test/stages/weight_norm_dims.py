"""Weight norm over the last dimension, over a middle one and over all, in half precision too."""
import torch


@torch.compile
def last(v, g, x):
    return x @ torch._weight_norm(v, g, 1)


@torch.compile
def middle(v, g):
    return torch._weight_norm(v, g, 1).relu()


@torch.compile
def whole(v, g):
    return torch._weight_norm(v, g, -1) * 2


x = torch.randn(16, 32, device="cuda")
v = torch.randn(32, 8, device="cuda", requires_grad=True)
g = torch.randn(1, 8, device="cuda", requires_grad=True)
last(v, g, x).sum().backward()
v3 = torch.randn(4, 6, 8, device="cuda", requires_grad=True)
middle(v3, torch.randn(1, 6, 1, device="cuda", requires_grad=True)).sum().backward()
whole(v3, torch.randn((), device="cuda", requires_grad=True)).sum().backward()
h = torch.randn(32, 8, device="cuda", requires_grad=True, dtype=torch.bfloat16)
last(h, torch.randn(1, 8, device="cuda", requires_grad=True, dtype=torch.bfloat16), x.bfloat16()).sum().backward()

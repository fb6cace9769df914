# Equal calls with -2 are not merged once one with -1 was seen: Python's hashes of the two are the same.
import torch


def outer(x):
    size = (*x.shape, x.shape[-1])
    return x.unsqueeze(-1).expand(size), x.unsqueeze(-2).expand(size)


@torch.compile
def f(x):
    x = x.sigmoid()
    a, b = outer(x)
    c, d = outer(x)
    return (a * b).sum(-1) + (c - d).abs().sum(-2) + x.sum(-1, keepdim=True) + x.sum(-2, keepdim=True).sum(-1, keepdim=True)


x = torch.randn(8, 10, 16, device="cuda", requires_grad=True)
f(x[:, 0]).sum().backward()

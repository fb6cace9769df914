import torch


@torch.compile
def f(x):
    a, b, c = x.split([4, 8, 4], dim=1)
    a.add_(1)
    b.mul_(a.sum(1, keepdim=True))
    u, v = c.unbind(0)[:2]
    u.copy_(v)
    return x.sin(), b.reshape(-1)


f(torch.randn(24, 16, device="cuda"))

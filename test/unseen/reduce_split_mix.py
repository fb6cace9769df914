import torch


@torch.compile
def f(x, y, z):
    return x.sum(), x.mean(0), x.var(0), y.amax(), y.argmax(), (y * y).sum((0, 2)), z.sum(-1), z.std(), z.prod(0)


f(torch.randn(5000, 300, device="cuda"), torch.randn(32, 64, 500, device="cuda"), torch.randn(4, 100003, device="cuda"))

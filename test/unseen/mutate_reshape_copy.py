import torch


@torch.compile
def f(x):
    y = x.t().reshape(-1)
    y.mul_(2)
    z = x.transpose(0, 1).contiguous()
    z.view(-1)[3:].add_(1)
    return y, z, x + 1


f(torch.randn(40, 30, device="cuda"))

import torch


@torch.compile
def f(x, w):
    y = x * 2
    y.t_()
    y.add_(w)
    z = y.clone().unsqueeze_(0)
    z.squeeze_(0).transpose_(0, 1)
    return y, z.mul_(3)


f(torch.randn(44, 20, device="cuda"), torch.randn(44, device="cuda"))

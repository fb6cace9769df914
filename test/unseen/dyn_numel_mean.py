import torch


@torch.compile(dynamic=True)
def f(x, mask):
    total = (x * mask).sum() / x.numel()
    return total, mask.float().sum() / mask.numel(), x.view(-1)


f(torch.randn(17, 31, device="cuda"), torch.rand(17, 31, device="cuda") > 0.5)

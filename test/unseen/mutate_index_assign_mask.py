import torch


@torch.compile
def f(x, mask, idx, v):
    x[mask] = 0.0
    x[idx] = v
    x[:, 2:5] *= 3
    x[idx, 1] += 1.0
    return x.sum(0)


f(torch.randn(60, 12, device="cuda"), torch.rand(60, 12, device="cuda") > 0.8, torch.randperm(10, device="cuda"), torch.randn(10, 12, device="cuda"))

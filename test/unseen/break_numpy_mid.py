import torch
import time


@torch.compile
def f(x):
    y = x.cos() * 2
    t = time.time()
    z = y + x.sum(0)
    return z


f(torch.randn(50, 66, device="cuda"))

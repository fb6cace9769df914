import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, i, s):
    a = torch.zeros(30, 40, device=x.device).scatter(1, i, x)
    b = x.scatter_add(0, i % 20, s)
    c = torch.scatter_reduce(x, 1, i % 10, s, reduce="amax")
    return a, b, c

f(torch.randn(30, 10, device="cuda"), torch.randint(0, 40, (30, 10), device="cuda"), torch.randn(30, 10, device="cuda"))

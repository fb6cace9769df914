import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, i, s, k):
    a = x.scatter(1, i, s, reduce="multiply")
    b = x.scatter(1, i, 2.5, reduce="multiply")
    c = x.scatter_reduce(0, i, s, reduce="prod", include_self=False)
    d = k.scatter_add(1, i, torch.ones_like(i))
    e = x.scatter_reduce(1, i, s, reduce="mean")
    return a, b, c, d, e

f(torch.randn(30, 40, device="cuda"), torch.randint(0, 30, (30, 10), device="cuda"), torch.randn(30, 10, device="cuda"), torch.zeros(30, 40, device="cuda", dtype=torch.long))

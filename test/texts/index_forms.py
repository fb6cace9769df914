import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, i, m):
    a = x[i]
    b = x[:, i[:5]]
    c = x[i, i.flip(0)]
    d = x.index_select(1, i)
    return a * 2, b + 1, c, d, torch.where(m, x, 0.0).sum(1)

f(torch.randn(90, 80, device="cuda"), torch.randint(0, 80, (12,), device="cuda"), torch.rand(90, 80, device="cuda") > 0.5)

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, i, v):
    y = x.clone()
    y[i] = v
    y[:, 3:7] += 1
    y[::2, 1] = 0
    z = x.index_add(0, i, v).index_fill(1, i[:3], 0.5)
    return y, z

f(torch.randn(64, 30, device="cuda"), torch.randint(0, 30, (9,), device="cuda"), torch.randn(9, 30, device="cuda"))

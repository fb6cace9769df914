import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, y):
    a = x.double() * 2 + y
    b = a.float().pow(3) + x.pow(0.5) - x.reciprocal()
    return a.sum(1), b, x.view(torch.int32) & 0xFF

f(torch.rand(100, 45, device="cuda"), torch.rand(100, 1, device="cuda", dtype=torch.float64))

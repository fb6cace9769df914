import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(a, b, c):
    return a @ b, torch.bmm(c, c.transpose(1, 2)), a @ b[:, 0]

f(torch.randn(1, 200, device="cuda"), torch.randn(200, 30, device="cuda"), torch.randn(5, 1, 64, device="cuda"))

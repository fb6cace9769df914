import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(k, x):
    a = k[:, :, None].expand(2, 4, 3, 50, 32).reshape(2, 12, 50, 32)
    b = x.repeat(2, 3) + x.tile(2, 3)
    c = torch.repeat_interleave(x, 3, dim=0)
    return a * 2, b, c

f(torch.randn(2, 4, 50, 32, device="cuda"), torch.randn(20, 30, device="cuda"))

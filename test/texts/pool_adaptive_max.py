import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    return F.adaptive_max_pool2d(x, (4, 4)) + 1, F.max_pool2d(x, 2, return_indices=True)

f(torch.randn(6, 32, 28, 28, device="cuda"))

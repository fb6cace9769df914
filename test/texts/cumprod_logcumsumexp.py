import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    return x.sigmoid().cumprod(-1), x.logcumsumexp(-1), x.cummax(-1)

f(torch.randn(60, 250, device="cuda"))

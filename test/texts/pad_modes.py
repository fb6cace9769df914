import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    a = F.pad(x, (1, 2, 3, 1), mode="reflect")
    b = F.pad(x, (1, 2, 3, 1), mode="replicate")
    c = F.pad(x, (1, 2, 3, 1), mode="circular")
    return a + b * c

f(torch.randn(4, 6, 31, 30, device="cuda"))

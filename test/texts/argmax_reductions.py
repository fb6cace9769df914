import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    return x.argmax(0), x.argmin(), x.max(dim=1), x.flatten().argmax()

f(torch.randn(257, 391, device="cuda"))

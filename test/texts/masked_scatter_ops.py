import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, m, q):
    y = x.masked_fill(m, float("-inf")).softmax(-1)
    return y, torch.bucketize(x, q), torch.searchsorted(q, x[:, :3].contiguous())

f(torch.randn(30, 70, device="cuda"), torch.rand(30, 70, device="cuda") > 0.7, torch.linspace(-1, 1, 15, device="cuda"))

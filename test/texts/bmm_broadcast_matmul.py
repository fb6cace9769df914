import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, w, v):
    a = torch.matmul(x, w)
    b = torch.matmul(x.unsqueeze(1), w[None])
    return a.tanh(), b.squeeze(1), torch.matmul(x, v)

f(torch.randn(7, 33, 40, device="cuda"), torch.randn(40, 24, device="cuda"), torch.randn(40, device="cuda"))

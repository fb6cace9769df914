import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(logits):
    p = torch.softmax(logits / 0.8, -1)
    s, i = torch.sort(p, descending=True, dim=-1)
    c = s.cumsum(-1)
    s = s.masked_fill(c - s > 0.9, 0.0)
    s = s / s.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(1, i, s)

f(torch.randn(5, 999, device="cuda"))

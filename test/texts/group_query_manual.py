import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(q, k, v):
    b, t, hq, d = q.shape
    k = k.repeat_interleave(hq // k.size(2), dim=2).transpose(1, 2)
    v = v.repeat_interleave(hq // v.size(2), dim=2).transpose(1, 2)
    s = q.transpose(1, 2) @ k.transpose(-1, -2) * d ** -0.5
    m = torch.ones(t, t, dtype=torch.bool, device=q.device).tril()
    s = s.masked_fill(~m, float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)

with torch.no_grad():
    f(torch.randn(2, 60, 8, 32, device="cuda"), torch.randn(2, 60, 2, 32, device="cuda"), torch.randn(2, 60, 2, 32, device="cuda"))

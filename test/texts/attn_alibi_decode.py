import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(q, ck, cv, k, v, slopes, pos):
    ck[:, :, pos] = k[:, :, None]
    cv[:, :, pos] = v[:, :, None]
    s = torch.einsum("bhd,bhtd->bht", q, ck) * 0.1
    t = torch.arange(ck.size(2), device=q.device)
    s = s + slopes[:, None] * t
    s = s.masked_fill(t > pos, float("-inf"))
    return torch.einsum("bht,bhtd->bhd", s.softmax(-1), cv)

with torch.no_grad():
    f(torch.randn(2, 8, 48, device="cuda"), torch.zeros(2, 8, 99, 48, device="cuda"), torch.zeros(2, 8, 99, 48, device="cuda"), torch.randn(2, 8, 48, device="cuda"), torch.randn(2, 8, 48, device="cuda"), torch.rand(8, device="cuda"), torch.tensor([17], device="cuda"))

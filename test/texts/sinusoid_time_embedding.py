import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(t, w):
    half = 64
    fr = torch.exp(-9.21 * torch.arange(half, device=t.device, dtype=torch.float32) / half)
    a = t[:, None].float() * fr[None]
    e = torch.cat([a.cos(), a.sin()], -1)
    return F.silu(e @ w)

f(torch.randint(0, 1000, (48,), device="cuda"), torch.randn(128, 200, device="cuda"))

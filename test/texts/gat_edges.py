import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(h, src, dst, a):
    z = F.leaky_relu((torch.cat([h[src], h[dst]], -1) * a).sum(-1), 0.2)
    e = torch.exp(z - z.max())
    den = torch.zeros(h.size(0), device=h.device).index_add(0, dst, e)
    return torch.zeros_like(h).index_add(0, dst, h[src] * (e / den[dst])[:, None])

f(torch.randn(60, 16, device="cuda"), torch.randint(0, 60, (500,), device="cuda"), torch.randint(0, 60, (500,), device="cuda"), torch.randn(32, device="cuda"))

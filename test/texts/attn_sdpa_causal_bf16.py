import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(q, k, v):
    y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
    return y.transpose(1, 2).flatten(2) * 2

a = torch.randn(2, 120, 8, 64, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    f(a, torch.randn_like(a), torch.randn_like(a))

import torch
import torch.nn.functional as F


@torch.compile
def f(q, k, v, w):
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return (y.transpose(1, 2).flatten(2) @ w).float().square().mean()


q, k, v = (torch.randn(2, 6, 72, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
w = torch.randn(384, 50, device="cuda", dtype=torch.bfloat16, requires_grad=True)
f(q, k, v, w).backward()

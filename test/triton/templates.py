"""Products and attention at sizes that are no multiple of any tile; interpret.py has what they give."""
import torch
import torch.nn.functional as F


@torch.compile
def linear_relu(x, w, b):
    return F.relu(F.linear(x, w, b))


@torch.compile
def gate(x, a, b):
    return torch.sigmoid(x @ a.t()) * (x @ b.t())


@torch.compile
def batched(q, k, bias):
    return torch.relu(torch.baddbmm(bias, q, k.transpose(1, 2), alpha=0.5, beta=2.0)) + 1


@torch.compile
def gelu16(x, w):
    return F.gelu(x @ w)


@torch.compile
def tanh16(x, w):
    return F.gelu(x @ w, approximate="tanh")


@torch.compile
def bias_attention(q, k, v, bias):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


@torch.compile
def causal_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

d, h = "cuda", torch.float16
with torch.no_grad():
    linear_relu(torch.randn(70, 36, device=d), torch.randn(44, 36, device=d), torch.randn(44, device=d))
    gate(torch.randn(70, 40, device=d, dtype=h), torch.randn(56, 40, device=d, dtype=h), torch.randn(56, 40, device=d, dtype=h))
    batched(torch.randn(3, 17, 40, device=d), torch.randn(3, 21, 40, device=d), torch.randn(3, 1, 21, device=d))
    gelu16(torch.randn(300, 72, device=d, dtype=h), torch.randn(72, 136, device=d, dtype=h))
    tanh16(torch.randn(300, 72, device=d, dtype=h), torch.randn(72, 136, device=d, dtype=h))
    bias_attention(torch.randn(2, 3, 40, 32, device=d, dtype=h), torch.randn(2, 3, 56, 32, device=d, dtype=h), torch.randn(2, 3, 56, 32, device=d, dtype=h), torch.randn(40, 56, device=d, dtype=h))
    causal_attention(torch.randn(2, 4, 200, 16, device=d, dtype=h), torch.randn(2, 2, 200, 16, device=d, dtype=h), torch.randn(2, 2, 200, 16, device=d, dtype=h))

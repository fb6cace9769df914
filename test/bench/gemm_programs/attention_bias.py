"""Attention with a bias added to the scores."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def attention_bias(q, k, v, bias):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


q, k, v = (torch.randn(4, 16, 2048, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3))
bias = torch.randn(1, 16, 2048, 2048, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    attention_bias(q, k, v, bias)

"""Causal attention, for which PyTorch has a fused kernel."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def attention_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


q, k, v = (torch.randn(4, 16, 4096, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3))
with torch.no_grad():
    attention_causal(q, k, v)

"""Attention under a boolean mask: a padded batch."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def attention_mask(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


q, k, v = (torch.randn(8, 16, 1024, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))
mask = torch.rand(8, 1, 1024, 1024, device="cuda") > 0.2
with torch.no_grad():
    attention_mask(q, k, v, mask)

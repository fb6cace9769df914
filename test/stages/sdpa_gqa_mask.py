import torch
import torch.nn.functional as F

@torch.compile
def f(q, k, v, mask):
    a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    k2, v2 = k.repeat_interleave(4, 1), v.repeat_interleave(4, 1)
    b = F.scaled_dot_product_attention(q, k2, v2, attn_mask=mask)
    c = F.scaled_dot_product_attention(q, k2, v2, attn_mask=mask[0, 0].float().log().to(q.dtype), scale=0.1)
    return a + b, c


q = torch.randn(2, 8, 64, 64, device="cuda", dtype=torch.bfloat16)
k, v = torch.randn(2, 2, 2, 64, 64, device="cuda", dtype=torch.bfloat16).unbind(0)
mask = torch.rand(2, 1, 64, 64, device="cuda") > 0.3
f(q, k, v, mask)

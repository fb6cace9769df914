"""A linear layer and GELU: the first half of a transformer's feed-forward block."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def bias_gelu(x, w, b):
    return F.gelu(F.linear(x, w, b))


x = torch.randn(8192, 1024, device="cuda", dtype=torch.bfloat16)
w = torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16)
b = torch.randn(4096, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    bias_gelu(x, w, b)

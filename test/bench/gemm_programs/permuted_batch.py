"""A linear layer over a transposed view: mixing along another dimension than the last."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def permuted_batch(x, w, b):
    return F.gelu(F.linear(x.transpose(1, 2), w, b))


x = torch.randn(16, 1024, 1024, device="cuda", dtype=torch.float16)
w = torch.randn(2048, 1024, device="cuda", dtype=torch.float16)
b = torch.randn(2048, device="cuda", dtype=torch.float16)
with torch.no_grad():
    permuted_batch(x, w, b)

"""A linear layer whose float32 weights are cast to float16 for 64 tokens, as under autocast."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def cast_weights(x, w, b):
    return F.relu(F.linear(x, w.half(), b))


x = torch.randn(64, 4096, device="cuda", dtype=torch.float16)
w = torch.randn(8192, 4096, device="cuda")
b = torch.randn(8192, device="cuda", dtype=torch.float16)
with torch.no_grad():
    cast_weights(x, w, b)

"""A linear layer whose weights are int8 with a scale per row, for 16 tokens: it is bound by the weights' bytes."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def w8a16_few(x, w, scale):
    return F.linear(x, w.to(torch.float16) * scale[:, None])


x = torch.randn(16, 4096, device="cuda", dtype=torch.float16)
w = torch.randint(-127, 128, (4096, 4096), device="cuda", dtype=torch.int8)
scale = torch.rand(4096, device="cuda", dtype=torch.float16)
with torch.no_grad():
    w8a16_few(x, w, scale)

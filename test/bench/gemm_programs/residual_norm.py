"""A projection, the residual and the next layer's RMS norm, which needs statistics of the rows."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def residual_norm(x, w, b, residual, scale):
    h = F.linear(x, w, b) + residual
    f = h.float()
    normed = f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)
    return h, (normed * scale).to(torch.bfloat16)


x = torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16)
w = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
b = torch.randn(2048, device="cuda", dtype=torch.bfloat16)
residual = torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16)
scale = torch.randn(2048, device="cuda", dtype=torch.float32)
with torch.no_grad():
    residual_norm(x, w, b, residual, scale)

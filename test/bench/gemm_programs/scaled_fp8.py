"""A product of fp8 matrices scaled by row and column, and relu."""
import torch


@torch.compile(mode="max-autotune-no-cudagraphs")
def scaled_fp8(x, w, x_scale, w_scale):
    out = torch._scaled_mm(x, w.t(), x_scale, w_scale, out_dtype=torch.bfloat16, use_fast_accum=True)
    return torch.relu(out)


x = torch.randn(8192, 2048, device="cuda").to(torch.float8_e4m3fn)
w = torch.randn(8192, 2048, device="cuda").to(torch.float8_e4m3fn)
x_scale = torch.rand(8192, 1, device="cuda")
w_scale = torch.rand(1, 8192, device="cuda")
scaled_fp8(x, w, x_scale, w_scale)

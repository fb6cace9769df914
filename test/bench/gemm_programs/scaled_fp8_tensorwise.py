"""A product of fp8 matrices with one scale each, and GELU."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def scaled_fp8_tensorwise(x, w, x_scale, w_scale):
    out = torch._scaled_mm(x, w.t(), x_scale, w_scale, out_dtype=torch.bfloat16, use_fast_accum=True)
    return F.gelu(out, approximate="tanh")


x = torch.randn(8192, 2048, device="cuda").to(torch.float8_e4m3fn)
w = torch.randn(8192, 2048, device="cuda").to(torch.float8_e4m3fn)
x_scale = torch.rand((), device="cuda")
w_scale = torch.rand((), device="cuda")
scaled_fp8_tensorwise(x, w, x_scale, w_scale)

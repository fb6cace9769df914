import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, w, s, z):
    d = (w.to(x.dtype) - z[:, None]) * s[:, None]
    return F.linear(x, d).float()

with torch.no_grad():
    f(torch.randn(5, 256, device="cuda", dtype=torch.float16), torch.randint(-128, 127, (96, 256), device="cuda", dtype=torch.int8), torch.rand(96, device="cuda", dtype=torch.float16), torch.rand(96, device="cuda", dtype=torch.float16))

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    a = torch.erf(x) + torch.lgamma(x.abs() + 1) + torch.erfinv(x * 0.3) + torch.digamma(x.abs() + 1)
    b = torch.atan2(x, x + 1) + torch.hypot(x, x) + torch.expm1(x) + torch.log1p(x.abs()) + torch.sinc(x)
    c = torch.special.i0(x) + torch.special.ndtri(x.sigmoid()) + torch.polygamma(1, x.abs() + 1)
    return a, b, c, torch.frac(x), torch.copysign(x, -x), torch.nextafter(x, x + 1), torch.xlogy(x.abs(), x.abs() + 1)

f(torch.randn(80, 90, device="cuda"))

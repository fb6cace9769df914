import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, fr):
    c = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(c * fr[None, :, None]).flatten(3).type_as(x)

with torch.no_grad():
    f(torch.randn(2, 40, 6, 64, device="cuda", dtype=torch.bfloat16), torch.polar(torch.ones(40, 32, device="cuda"), torch.rand(40, 32, device="cuda")))

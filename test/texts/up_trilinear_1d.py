import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(v, s):
    a = F.interpolate(v, scale_factor=2, mode="trilinear", align_corners=False)
    b = F.interpolate(s, scale_factor=4, mode="linear", align_corners=False)
    c = F.interpolate(s, scale_factor=1.5, mode="nearest-exact")
    return a, b, c

f(torch.randn(2, 4, 8, 10, 12, device="cuda"), torch.randn(5, 6, 70, device="cuda"))

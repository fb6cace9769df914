import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    a = F.interpolate(x, scale_factor=(2, 3), mode="bilinear", align_corners=True)
    return a.sigmoid()

f(torch.randn(2, 12, 17, 19, device="cuda", dtype=torch.float16))

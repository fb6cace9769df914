import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, w, b):
    y = F.layer_norm(x, (6, 50), w, b)
    return y, F.normalize(x, dim=-1), F.rms_norm(x, (50,))

f(torch.randn(128, 6, 50, device="cuda"), torch.randn(6, 50, device="cuda"), torch.randn(6, 50, device="cuda"))

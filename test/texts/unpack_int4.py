import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(w, s):
    lo = (w & 0xF).to(torch.int8) - 8
    hi = (w >> 4).to(torch.int8) - 8
    q = torch.stack([lo, hi], -1).view(w.size(0), -1)
    return (q.view(w.size(0), -1, 32).to(s.dtype) * s[..., None]).flatten(1)

f(torch.randint(0, 255, (64, 128), device="cuda", dtype=torch.uint8), torch.rand(64, 8, device="cuda", dtype=torch.bfloat16))

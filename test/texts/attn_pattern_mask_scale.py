import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(q, k, v, mask):
    s = torch.matmul(q, k.transpose(-2, -1)) / 8.0 + mask
    return torch.matmul(s.softmax(-1), v)

q = torch.randn(4, 8, 100, 64, device="cuda", dtype=torch.float16)
with torch.no_grad():
    f(q, torch.randn_like(q), torch.randn_like(q), torch.randn(4, 1, 100, 100, device="cuda", dtype=torch.float16))

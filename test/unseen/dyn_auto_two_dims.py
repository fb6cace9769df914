import torch
import torch.nn as nn

norm = nn.LayerNorm(40).cuda()


@torch.compile
def f(x, s):
    return norm(x) * s[: x.shape[1], None]


with torch.no_grad():
    f(torch.randn(5, 30, 40, device="cuda"), torch.randn(64, device="cuda"))
    f(torch.randn(5, 31, 40, device="cuda"), torch.randn(64, device="cuda"))
    f(torch.randn(8, 33, 40, device="cuda"), torch.randn(64, device="cuda"))

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, y, z):
    a = torch.einsum("bij,bjk->bik", x, y)
    b = torch.einsum("bij,kj->bik", x, z)
    c = torch.einsum("bij,bij->b", x, x)
    return a, b, c, torch.einsum("i,j->ij", c, c)

f(torch.randn(6, 20, 30, device="cuda"), torch.randn(6, 30, 50, device="cuda"), torch.randn(44, 30, device="cuda"))

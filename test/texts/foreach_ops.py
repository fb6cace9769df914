import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(ps, gs):
    torch._foreach_mul_(ps, 0.99)
    torch._foreach_add_(ps, gs, alpha=-0.1)
    n = torch._foreach_norm(gs)
    return torch.stack(n).norm()

with torch.no_grad():
    f([torch.randn(30 + i, 40, device="cuda") for i in range(6)], [torch.randn(30 + i, 40, device="cuda") for i in range(6)])

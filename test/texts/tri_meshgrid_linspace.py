import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x):
    n = x.size(0)
    i, j = torch.meshgrid(torch.arange(n, device=x.device, dtype=torch.float32), torch.linspace(0, 1, n, device=x.device), indexing="ij")
    return torch.triu(x, 1) + i * j + torch.eye(n, device=x.device), torch.diag(x), torch.diag_embed(x[0]), x.trace()

f(torch.randn(90, 90, device="cuda"))

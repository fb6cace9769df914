# Hover a line: which kernel computes it, and what keeps it apart from the others?
import torch
import torch.nn as nn
import torch.nn.functional as F


class GatedBlock(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.gate = nn.Linear(dim, dim)
        self.up = nn.Linear(dim, dim)

    def forward(self, x):
        h = self.norm(x)
        g = F.silu(self.gate(h))
        return x + g * self.up(h)


block = torch.compile(GatedBlock(1024).cuda().eval())
with torch.no_grad():
    block(torch.randn(512, 1024, device="cuda"))


# Two passes over one tensor. Why not one? The hover and the hint under the line say it.
@torch.compile
def sum_and_transpose(x):
    total = x.sum(dim=0)
    flipped = x.t().contiguous()
    return total, flipped


sum_and_transpose(torch.randn(8192, 3072, device="cuda"))

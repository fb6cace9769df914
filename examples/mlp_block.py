"""A pre-norm MLP block as many models write it."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        h = F.gelu(self.up(self.norm(x)))
        return x + self.down(h)


model = torch.compile(MLP(512, 2048).cuda().eval())

with torch.no_grad():
    out = model(torch.randn(8, 256, 512, device="cuda"))

# Channels that are split, joined and shuffled between convolutions: steps inside a joined index are unknown to tilings.
import torch
import torch.nn.functional as F
from torch import nn


class Unit(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = nn.Conv2d(c // 2, c // 2, 1, bias=False)
        self.n = nn.BatchNorm2d(c // 2)
        self.b = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.se = nn.Conv2d(c, c, 1)

    def forward(self, x):
        c = x.size(1) // 2
        left, right = x[:, :c], x[:, c:]
        x = torch.cat([left, F.relu(self.n(self.a(right)))], 1)
        b, n, h, w = x.shape
        x = x.view(b, 2, n // 2, h, w).permute(0, 2, 1, 3, 4).reshape(b, n, h, w)
        x = self.b(x)
        return x * self.se(x.mean((2, 3), keepdim=True)).sigmoid()


m = nn.Sequential(nn.Conv2d(3, 96, 3, stride=2, padding=1), nn.BatchNorm2d(96), Unit(96), Unit(96)).cuda()
torch.compile(m)(torch.randn(8, 3, 64, 64, device="cuda")).square().mean().backward()

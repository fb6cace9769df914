import math

import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d // 2, 32), nn.ReLU(), nn.Linear(32, d))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        z = torch.cat([a, b * s.exp() + t], dim=1)
        return z, s.sum(1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(10) for _ in range(2))

    def forward(self, x):
        logdet = x.new_zeros(x.size(0))
        for layer in self.layers:
            x, ld = layer(x.flip(1))
            logdet = logdet + ld
        return (0.5 * (x**2 + math.log(2 * math.pi)).sum(1) - logdet).mean()


torch.compile(Flow().cuda())(torch.randn(60, 10, device="cuda")).backward()

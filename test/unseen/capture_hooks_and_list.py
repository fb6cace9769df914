import torch
import torch.nn as nn


class Feat(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([nn.Conv1d(6, 12, 3), nn.Conv1d(12, 24, 3)])

    def forward(self, x, return_all=False):
        feats = []
        for s in self.stages:
            x = torch.nn.functional.gelu(s(x))
            feats.append(x)
        return feats if return_all else feats[-1]


net = torch.compile(Feat().cuda())
a, b = net(torch.randn(4, 6, 50, device="cuda"), return_all=True)
(a.mean() + b.mean()).backward()

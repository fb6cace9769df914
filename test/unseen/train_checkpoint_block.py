import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(56, 112), nn.SiLU(), nn.Linear(112, 56)) for _ in range(2))

    def forward(self, x):
        for b in self.blocks:
            x = x + checkpoint(b, x, use_reentrant=False)
        return x


torch.compile(Net().cuda())(torch.randn(90, 56, device="cuda")).mean().backward()

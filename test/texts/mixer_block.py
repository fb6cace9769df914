import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class M(nn.Module):
    def __init__(self, n=49, d=128):
        super().__init__()
        self.l1, self.l2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.t = nn.Sequential(nn.Linear(n, 64), nn.GELU(), nn.Linear(64, n))
        self.c = nn.Sequential(nn.Linear(d, 512), nn.GELU(), nn.Linear(512, d))

    def forward(self, x):
        x = x + self.t(self.l1(x).transpose(1, 2)).transpose(1, 2)
        return (x + self.c(self.l2(x))).mean(1)

net = torch.compile(M().cuda().half().eval())
with torch.no_grad():
    net(torch.randn(16, 49, 128, device="cuda", dtype=torch.half))

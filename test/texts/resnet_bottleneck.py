import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Bottle(nn.Module):
    def __init__(self, c, m, stride):
        super().__init__()
        self.c1 = nn.Conv2d(c, m, 1, bias=False)
        self.b1 = nn.BatchNorm2d(m)
        self.c2 = nn.Conv2d(m, m, 3, stride, 1, bias=False)
        self.b2 = nn.BatchNorm2d(m)
        self.c3 = nn.Conv2d(m, 4 * m, 1, bias=False)
        self.b3 = nn.BatchNorm2d(4 * m)
        self.d = nn.Sequential(nn.Conv2d(c, 4 * m, 1, stride, bias=False), nn.BatchNorm2d(4 * m))

    def forward(self, x):
        y = F.relu(self.b1(self.c1(x)))
        y = F.relu(self.b2(self.c2(y)))
        return F.relu(self.b3(self.c3(y)) + self.d(x))

net = torch.compile(nn.Sequential(Bottle(64, 32, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)).cuda().eval())
with torch.no_grad():
    net(torch.randn(4, 64, 56, 56, device="cuda"))

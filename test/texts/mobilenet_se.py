import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class SE(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c // 4, 1), nn.Conv2d(c // 4, c, 1)

    def forward(self, x):
        s = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.b(F.relu(self.a(s))))

class MB(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Conv2d(24, 96, 1)
        self.d = nn.Conv2d(96, 96, 5, padding=2, groups=96)
        self.s = SE(96)
        self.p = nn.Conv2d(96, 24, 1)

    def forward(self, x):
        return x + self.p(self.s(F.hardswish(self.d(F.hardswish(self.e(x))))))

net = torch.compile(MB().cuda().eval())
with torch.no_grad():
    net(torch.randn(8, 24, 28, 28, device="cuda"))

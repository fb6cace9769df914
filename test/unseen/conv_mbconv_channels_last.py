import torch
import torch.nn as nn


class SE(nn.Module):
    def __init__(self, c, r):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.f1, self.f2 = nn.Conv2d(c, r, 1), nn.Conv2d(r, c, 1)

    def forward(self, x):
        s = self.pool(x)
        return x * torch.sigmoid(self.f2(nn.functional.silu(self.f1(s))))


class MBConv(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        h = 4 * i
        self.body = nn.Sequential(
            nn.Conv2d(i, h, 1, bias=False), nn.BatchNorm2d(h), nn.SiLU(),
            nn.Conv2d(h, h, 3, stride, 1, groups=h, bias=False), nn.BatchNorm2d(h), nn.SiLU(),
            SE(h, i // 4), nn.Conv2d(h, o, 1, bias=False), nn.BatchNorm2d(o))
        self.res = i == o and stride == 1

    def forward(self, x):
        y = self.body(x)
        return x + y if self.res else y


m = torch.compile(nn.Sequential(MBConv(16, 16, 1), MBConv(16, 24, 2), MBConv(24, 24, 1)).cuda().eval().to(memory_format=torch.channels_last))
with torch.no_grad():
    m(torch.randn(2, 16, 57, 57, device="cuda").to(memory_format=torch.channels_last))

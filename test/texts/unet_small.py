import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Double(nn.Sequential):
    def __init__(self, a, b):
        super().__init__(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.SiLU(), nn.Conv2d(b, b, 3, padding=1), nn.SiLU())

class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2 = Double(3, 16), Double(16, 32)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.u1 = Double(48, 16)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        return self.out(self.u1(torch.cat([a, self.up(b)], 1)))

net = torch.compile(UNet().cuda().eval())
with torch.no_grad():
    net(torch.randn(2, 3, 64, 48, device="cuda"))

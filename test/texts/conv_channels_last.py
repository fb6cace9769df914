import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 24, 3, padding=1, bias=True)
        self.bn = nn.BatchNorm2d(24)
        self.c2 = nn.Conv2d(24, 40, 3, stride=2, padding=1, groups=2)

    def forward(self, x):
        x = F.silu(self.bn(self.c1(x)))
        return F.gelu(self.c2(x))

net = torch.compile(Net().cuda().eval().to(memory_format=torch.channels_last))
x = torch.randn(4, 3, 50, 60, device="cuda").to(memory_format=torch.channels_last)
with torch.no_grad():
    net(x)

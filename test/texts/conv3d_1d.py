import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv3d(4, 8, 3, padding=1)
        self.n = nn.InstanceNorm3d(8)

    def forward(self, x):
        return F.leaky_relu(self.n(self.a(x)), 0.2)

net = torch.compile(Net().cuda().eval())
with torch.no_grad():
    net(torch.randn(2, 4, 10, 12, 14, device="cuda"))

import torch
import torch.nn as nn
import torch.nn.functional as F


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(24, 10, 3, padding=1)

    def forward(self, low, skip):
        up = F.interpolate(low, scale_factor=2, mode="nearest")
        x = torch.cat([up, skip], dim=1)
        x = F.leaky_relu(self.conv(x), 0.1)
        return F.max_pool2d(x, 2)


net = torch.compile(Up().cuda())
low = torch.randn(3, 16, 15, 17, device="cuda", requires_grad=True)
net(low, torch.randn(3, 8, 30, 34, device="cuda")).sum().backward()

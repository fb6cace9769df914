import torch
import torch.nn as nn
import torch.nn.functional as F


class QLinear(nn.Linear):
    def forward(self, x):
        s = self.weight.abs().amax(dim=1, keepdim=True) / 127
        q = (self.weight / s).round().clamp(-128, 127) * s
        w = self.weight + (q - self.weight).detach()
        return F.linear(x, w, self.bias)


torch.compile(QLinear(70, 33).cuda())(torch.randn(64, 70, device="cuda")).relu().sum().backward()

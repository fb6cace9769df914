import torch
import torch.nn as nn


class Norm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.register_buffer("mean", torch.zeros(c))
        self.register_buffer("steps", torch.tensor(0))
        self.gain = nn.Parameter(torch.ones(c))

    def forward(self, x):
        m = x.mean(0)
        with torch.no_grad():
            self.mean.mul_(0.9).add_(m, alpha=0.1)
            self.steps += 1
        return (x - self.mean) * self.gain


torch.compile(Norm(50).cuda())(torch.randn(300, 50, device="cuda")).sum().backward()

import torch
import torch.nn as nn
import torch.nn.functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.weight * grad, None


class Dann(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(50, 64)
        self.label, self.domain = nn.Linear(64, 10), nn.Linear(64, 2)

    def forward(self, x, y, d):
        h = F.leaky_relu(self.features(x), 0.1)
        return F.cross_entropy(self.label(h), y) + F.cross_entropy(self.domain(Reverse.apply(h, 0.3)), d)


x = torch.randn(64, 50, device="cuda")
torch.compile(Dann().cuda())(x, torch.randint(0, 10, (64,), device="cuda"), torch.randint(0, 2, (64,), device="cuda")).backward()

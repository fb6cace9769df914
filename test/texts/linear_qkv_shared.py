import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(96, 96, bias=False)
        self.k = nn.Linear(96, 96, bias=False)
        self.v = nn.Linear(96, 96, bias=False)

    def forward(self, x):
        return self.q(x), self.k(x), self.v(x).transpose(1, 2)

net = torch.compile(Q().cuda().eval())
with torch.no_grad():
    net(torch.randn(4, 50, 96, device="cuda"))

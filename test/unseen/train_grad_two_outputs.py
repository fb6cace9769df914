import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(30, 40)
        self.b = nn.Linear(40, 20)
        self.frozen = nn.Linear(40, 20)
        for p in self.frozen.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        h = self.a(x).sigmoid()
        return self.b(h), self.frozen(h).detach(), h


net = torch.compile(Net().cuda())
u, v, h = net(torch.randn(55, 30, device="cuda"))
(u.sum() + h.pow(2).mean()).backward()

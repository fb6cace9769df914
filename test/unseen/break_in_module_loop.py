import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(28, 28) for _ in range(3))
        self.log = []

    def forward(self, x):
        for i, l in enumerate(self.layers):
            x = l(x).relu()
            if i == 1:
                torch._dynamo.graph_break()
        return x + 1


net = torch.compile(Net().cuda())
net(torch.randn(19, 28, device="cuda")).sum().backward()

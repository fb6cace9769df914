import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(20, 20), nn.Linear(20, 5)

    def forward(self, x):
        h = torch.tanh(self.a(x))
        torch._dynamo.graph_break()
        h = h * h.sigmoid()
        return self.b(h).clamp(-1, 1)


net = torch.compile(Net().cuda())
net(torch.randn(4, 20, device="cuda")).sum().backward()

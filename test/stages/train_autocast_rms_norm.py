import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.RMSNorm(32)
        self.p = nn.Linear(32, 32, bias=False)

    def forward(self, x):
        x = x + self.p(self.n(x))
        return x + self.p(self.n(x))


net = torch.compile(Net().cuda())
with torch.autocast("cuda", dtype=torch.float16):
    loss = net(torch.randn(6, 10, 32, device="cuda")).float().pow(2).mean()
loss.backward()

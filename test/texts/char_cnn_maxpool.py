import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(100, 20)
        self.c = nn.ModuleList([nn.Conv1d(20, 16, k) for k in (2, 3, 5)])
        self.f = nn.Linear(48, 7)

    def forward(self, x):
        x = self.e(x).transpose(1, 2)
        y = []
        for c in self.c:
            y.append(F.relu(c(x)).max(-1).values)
        return self.f(torch.cat(y, 1)).log_softmax(-1)

net = torch.compile(C().cuda().eval())
with torch.no_grad():
    net(torch.randint(0, 100, (12, 33), device="cuda"))

import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv1d(8, 16, 3, padding=1)
        self.b = nn.Linear(16, 16)

    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            h = self.a(x).transpose(1, 2)
            h = F.layer_norm(self.b(h), (16,))
            with torch.autocast("cuda", enabled=False):
                s = torch.logsumexp(h.float(), -1)
            p = torch.softmax(h, -1).pow(2).sum(-1) + F.cosine_similarity(h, h.flip(-1), dim=-1)
        return s, p


net = torch.compile(Net().cuda())
s, p = net(torch.randn(4, 8, 30, device="cuda"))
(s.sum() + p.sum()).backward()

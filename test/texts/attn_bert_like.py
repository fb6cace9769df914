import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.d = h, d // h
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.h, self.d).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        s = torch.matmul(q, k.transpose(-1, -2)) / self.d ** 0.5
        s = s + (1.0 - mask[:, None, None, :]) * -10000.0
        p = F.softmax(s, dim=-1)
        o = torch.matmul(p, v).permute(0, 2, 1, 3).contiguous()
        return o.view(x.size(0), x.size(1), -1)

net = torch.compile(Attn(192, 6).cuda().eval())
with torch.no_grad():
    net(torch.randn(3, 77, 192, device="cuda"), torch.ones(3, 77, device="cuda"))

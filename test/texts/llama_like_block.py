import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class RMS(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))

    def forward(self, x):
        v = x.float().pow(2).mean(-1, keepdim=True)
        return (x.float() * torch.rsqrt(v + 1e-5)).type_as(x) * self.w

class Block(nn.Module):
    def __init__(self, d=320, h=5):
        super().__init__()
        self.h = h
        self.n1, self.n2 = RMS(d), RMS(d)
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.o = nn.Linear(d, d, bias=False)
        self.w1 = nn.Linear(d, 864, bias=False)
        self.w3 = nn.Linear(d, 864, bias=False)
        self.w2 = nn.Linear(864, d, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).split(d, dim=2)
        q, k, v = (z.view(b, t, self.h, -1).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).contiguous().view(b, t, d))
        h = self.n2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))

net = torch.compile(Block().cuda().bfloat16().eval())
with torch.no_grad():
    net(torch.randn(3, 130, 320, device="cuda", dtype=torch.bfloat16))

import torch
import torch.nn as nn


class Attn(nn.Module):
    def __init__(self, d=64, h=4, n=48):
        super().__init__()
        self.h = h
        self.q = nn.Linear(d, d)
        self.kv = nn.Linear(d, 2 * d)
        self.register_buffer("mask", torch.tril(torch.ones(n, n)).bool())

    def forward(self, x):
        b, t, d = x.shape
        q = self.q(x).view(b, t, self.h, -1).transpose(1, 2)
        k, v = self.kv(x).chunk(2, dim=-1)
        k = k.view(b, t, self.h, -1).transpose(1, 2)
        v = v.view(b, t, self.h, -1).transpose(1, 2)
        a = q @ k.mT / k.shape[-1] ** 0.5
        a = a.masked_fill(~self.mask[:t, :t], float("-inf")).softmax(-1)
        return (a @ v).transpose(1, 2).flatten(2)


net = torch.compile(Attn().cuda())
net(torch.randn(5, 40, 64, device="cuda")).pow(2).mean().backward()

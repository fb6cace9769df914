import torch
import torch.nn as nn
import torch.nn.functional as F


class Cached(nn.Module):
    def __init__(self, dim=512, heads=8, cap=256):
        super().__init__()
        self.h, self.d = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.register_buffer("k", torch.zeros(4, heads, cap, self.d))
        self.register_buffer("v", torch.zeros(4, heads, cap, self.d))
        self.register_buffer("mask", torch.tril(torch.ones(cap, cap, dtype=torch.bool)))

    def forward(self, x, pos):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q = q.view(b, t, self.h, self.d).transpose(1, 2)
        k = k.view(b, t, self.h, self.d).transpose(1, 2)
        v = v.view(b, t, self.h, self.d).transpose(1, 2)
        self.k[:, :, pos] = k
        self.v[:, :, pos] = v
        m = self.mask[pos][None, None]
        y = F.scaled_dot_product_attention(q, self.k, self.v, attn_mask=m)
        return self.o(y.transpose(1, 2).reshape(b, t, -1))


m = torch.compile(Cached().cuda().eval())
with torch.no_grad():
    m(torch.randn(4, 1, 512, device="cuda"), torch.tensor([17], device="cuda"))

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.dim = heads, dim // heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q, k, v = (w(x).view(b, t, self.heads, self.dim).transpose(1, 2) for w in (self.wq, self.wk, self.wv))

        def rotate(z):
            a, b = z.chunk(2, dim=-1)
            return z * cos + torch.cat((-b, a), dim=-1) * sin

        out = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        return self.wo(out.transpose(1, 2).reshape(b, t, -1))


attn = torch.compile(Attention(64, 4).cuda())
x, cos, sin = torch.randn(2, 48, 64, device="cuda"), torch.rand(48, 16, device="cuda"), torch.rand(48, 16, device="cuda")
attn(x, cos, sin).square().mean().backward()

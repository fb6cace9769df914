"""What the bundles run once when they are built, so that the code for it is kept: of most of what model files are made of."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), nn.Dropout(0.1))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(c, dim=2)
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
        mask = torch.tril(torch.ones(t, t, dtype=torch.bool, device=x.device))
        y = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1) @ v
        x = x + self.proj(y.transpose(1, 2).contiguous().view(b, t, c))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, vocab: int = 512, dim: int = 64, layers: int = 1):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.position = nn.Parameter(torch.zeros(1, 32, dim))
        self.blocks = nn.ModuleList([Block(dim, 4) for _ in range(layers)])
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens, targets=None):
        x = self.embed(tokens) + self.position[:, : tokens.size(1)]
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        if targets is None:
            return logits
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


@torch.compile
def pieces(x, y, scale):
    a, b = x.chunk(2, dim=-1)
    z = torch.cat([F.silu(a) * b, torch.where(y > 0, y, y.exp() - 1)], dim=1)
    low = z.to(torch.float16).float().clamp(min=-1.0, max=1.0)
    norm = torch.rsqrt(low.pow(2).mean(-1, keepdim=True) + 1e-6) * scale
    return (low * norm).sum(dim=0), z.amax(dim=1), x.transpose(0, 1).contiguous() + 1


model = torch.compile(Model().cuda())
tokens = torch.randint(0, 512, (2, 32), device="cuda")
loss = model(tokens, tokens)
loss.backward()
with torch.no_grad():
    pieces(torch.randn(64, 64, device="cuda"), torch.randn(64, 32, device="cuda"), torch.ones(64, device="cuda"))

"""A diffusion transformer: patches of a latent, conditions by time and class, blocks modulated by adaptive norms."""
import math

import torch
import torch.nn as nn


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class TimestepEmbedder(nn.Module):
    def __init__(self, width, frequencies=64):
        super().__init__()
        self.frequencies = frequencies
        self.mlp = nn.Sequential(nn.Linear(frequencies, width), nn.SiLU(), nn.Linear(width, width))

    @staticmethod
    def embed(t, dim, period=10000):
        half = dim // 2
        speeds = torch.exp(-math.log(period) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
        angles = t[:, None].float() * speeds[None]
        table = torch.cat([angles.cos(), angles.sin()], dim=-1)
        return table if dim % 2 == 0 else torch.cat([table, torch.zeros_like(table[:, :1])], dim=-1)

    def forward(self, t):
        return self.mlp(self.embed(t, self.frequencies))


class LabelEmbedder(nn.Module):
    """class labels; while training some are replaced by the class that means none"""

    def __init__(self, classes, width, drop=0.1):
        super().__init__()
        self.table = nn.Embedding(classes + (drop > 0), width)
        self.classes, self.drop = classes, drop

    def forward(self, labels):
        if self.training and self.drop > 0:
            dropped = torch.rand(labels.shape[0], device=labels.device) < self.drop
            labels = torch.where(dropped, self.classes, labels)
        return self.table(labels)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        out = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.proj(out.transpose(1, 2).reshape(b, n, c))


class DiTBlock(nn.Module):
    def __init__(self, width, heads, ratio=4.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        hidden = int(width * ratio)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(approximate="tanh"), nn.Linear(hidden, width))
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def forward(self, x, c):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(c).chunk(6, dim=1)
        x = x + gate1.unsqueeze(1) * self.attn(modulate(self.norm1(x), shift1, scale1))
        return x + gate2.unsqueeze(1) * self.mlp(modulate(self.norm2(x), shift2, scale2))


class FinalLayer(nn.Module):
    def __init__(self, width, patch, channels):
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.linear = nn.Linear(width, patch * patch * channels)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 2 * width))

    def forward(self, x, c):
        shift, scale = self.modulation(c).chunk(2, dim=1)
        return self.linear(modulate(self.norm(x), shift, scale))


def position_table(width, side):
    """sines and cosines of rows and columns, made once where the model is built"""
    speeds = 10000.0 ** -(torch.arange(width // 4, dtype=torch.float64) / (width / 4))
    rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    angles = [axis.reshape(-1, 1).double() * speeds for axis in (rows, columns)]
    return torch.cat([part for a in angles for part in (a.sin(), a.cos())], dim=1).float().unsqueeze(0)


class DiT(nn.Module):
    def __init__(self, size=16, patch=2, channels=4, width=96, depth=2, heads=4, classes=10):
        super().__init__()
        self.patch, self.channels, self.side = patch, channels, size // patch
        self.to_patches = nn.Conv2d(channels, width, patch, stride=patch)
        self.time, self.label = TimestepEmbedder(width), LabelEmbedder(classes, width)
        self.positions = nn.Parameter(position_table(width, self.side), requires_grad=False)
        self.blocks = nn.ModuleList([DiTBlock(width, heads) for _ in range(depth)])
        self.final = FinalLayer(width, patch, channels)
        for block in self.blocks:
            nn.init.constant_(block.modulation[-1].weight, 0)

    def unpatchify(self, x):
        p, h = self.patch, self.side
        x = x.reshape(x.shape[0], h, h, p, p, self.channels)
        return torch.einsum("nhwpqc->nchpwq", x).reshape(x.shape[0], self.channels, h * p, h * p)

    def forward(self, x, t, y):
        x = self.to_patches(x).flatten(2).transpose(1, 2) + self.positions
        c = self.time(t) + self.label(y)
        for block in self.blocks:
            x = block(x, c)
        return self.unpatchify(self.final(x, c))


if __name__ == "__main__":
    dit = torch.compile(DiT().cuda())
    latent = torch.randn(4, 4, 16, 16, device="cuda")
    t = torch.randint(0, 1000, (4,), device="cuda")
    y = torch.randint(0, 10, (4,), device="cuda")
    dit(latent, t, y).square().mean().backward()

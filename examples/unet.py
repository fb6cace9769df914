"""A U-Net for denoising: residual blocks that take the time step, attention at the smallest size, skips on the way up."""
import math

import torch
import torch.nn.functional as F
from torch import nn


def exists(value):
    return value is not None


def default(value, fallback):
    if exists(value):
        return value
    return fallback() if callable(fallback) else fallback


class SinusoidalEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        half = self.dim // 2
        speeds = torch.exp(torch.arange(half, device=time.device) * -(math.log(10000) / (half - 1)))
        angles = time[:, None] * speeds[None, :]
        return torch.cat((angles.sin(), angles.cos()), dim=-1)


class ResBlock(nn.Module):
    def __init__(self, inp, out=None, *, time_dim, groups=8):
        super().__init__()
        out = default(out, inp)
        self.to_scale = nn.Sequential(nn.SiLU(), nn.Linear(time_dim, out * 2))
        self.norm1, self.conv1 = nn.GroupNorm(groups, inp), nn.Conv2d(inp, out, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(groups, out), nn.Conv2d(out, out, 3, padding=1)
        self.skip = nn.Conv2d(inp, out, 1) if inp != out else nn.Identity()

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.to_scale(time)[:, :, None, None].chunk(2, dim=1)
        h = self.norm2(h) * (scale + 1) + shift
        return self.conv2(F.silu(h)) + self.skip(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(1, dim)
        self.to_qkv = nn.Conv2d(dim, dim * 3, 1, bias=False)
        self.to_out = nn.Conv2d(dim, dim, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.to_qkv(self.norm(x)).view(b, 3, self.heads, c // self.heads, h * w).unbind(1)
        similarity = torch.einsum("bhdi,bhdj->bhij", q * (c // self.heads) ** -0.5, k)
        out = torch.einsum("bhij,bhdj->bhid", similarity.softmax(dim=-1), v)
        return x + self.to_out(out.permute(0, 1, 3, 2).reshape(b, c, h, w))


class Unet(nn.Module):
    def __init__(self, dim=32, dim_mults=(1, 2, 4), channels=3):
        super().__init__()
        widths = [dim, *(dim * m for m in dim_mults)]
        pairs = list(zip(widths[:-1], widths[1:]))
        time_dim = dim * 4
        self.time = nn.Sequential(
            SinusoidalEmbedding(dim), nn.Linear(dim, time_dim), nn.GELU(), nn.Linear(time_dim, time_dim)
        )
        self.stem = nn.Conv2d(channels, dim, 3, padding=1)
        self.downs, self.ups = nn.ModuleList([]), nn.ModuleList([])
        for i, (inp, out) in enumerate(pairs):
            last = i == len(pairs) - 1
            self.downs.append(nn.ModuleList([
                ResBlock(inp, time_dim=time_dim),
                nn.Conv2d(inp, out, 3, padding=1) if last else nn.Conv2d(inp, out, 4, stride=2, padding=1),
            ]))
        self.mid = ResBlock(widths[-1], time_dim=time_dim)
        self.mid_attention = Attention(widths[-1])
        for i, (inp, out) in enumerate(reversed(pairs)):
            grow = i > 0
            self.ups.append(nn.ModuleList([
                nn.Upsample(scale_factor=2, mode="nearest") if grow else None,
                nn.Conv2d(out, inp, 3, padding=1),
                ResBlock(inp * 2, inp, time_dim=time_dim),
            ]))
        self.final = nn.Conv2d(dim, channels, 1)

    def forward(self, x, time):
        t = self.time(time)
        x = self.stem(x)
        skips = []
        for block, down in self.downs:
            x = block(x, t)
            skips.append(x)
            x = down(x)
        x = self.mid_attention(self.mid(x, t))
        for upsample, conv, block in self.ups:
            if exists(upsample):
                x = upsample(x)
            x = block(torch.cat((conv(x), skips.pop()), dim=1), t)
        return self.final(x)


if __name__ == "__main__":
    unet = torch.compile(Unet().cuda())
    noisy = torch.randn(2, 3, 32, 32, device="cuda")
    noise = torch.randn(2, 3, 32, 32, device="cuda")
    time = torch.rand(2, device="cuda")
    F.mse_loss(unet(noisy, time), noise).backward()

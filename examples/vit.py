"""A vision transformer: patches by a strided convolution, a class token, blocks with layer scale and stochastic depth."""
from functools import partial

import torch
from torch import nn


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


class PatchEmbed(nn.Module):
    def __init__(self, image_size, patch_size, channels, dim):
        super().__init__()
        (height, width), (ph, pw) = pair(image_size), pair(patch_size)
        assert height % ph == 0 and width % pw == 0, "patches must tile the image"
        self.count = (height // ph) * (width // pw)
        self.proj = nn.Conv2d(channels, dim, kernel_size=(ph, pw), stride=(ph, pw))

    def forward(self, image):
        return self.proj(image).flatten(2).transpose(1, 2)


class DropPath(nn.Module):
    """leaves a whole branch out for some samples while training"""

    def __init__(self, rate=0.0):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        if self.rate == 0.0 or not self.training:
            return x
        keep = 1.0 - self.rate
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        return x * x.new_empty(shape).bernoulli_(keep) / keep


class Attention(nn.Module):
    def __init__(self, dim, heads, qkv_bias=True):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = ((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, n, c))


class Mlp(nn.Module):
    def __init__(self, dim, ratio=4.0, act=nn.GELU):
        super().__init__()
        self.fc1 = nn.Linear(dim, int(dim * ratio))
        self.act = act()
        self.fc2 = nn.Linear(int(dim * ratio), dim)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, dim, heads, drop_path, norm=nn.LayerNorm, scale=1e-5):
        super().__init__()
        self.norm1, self.norm2 = norm(dim), norm(dim)
        self.attn, self.mlp = Attention(dim, heads), Mlp(dim)
        self.gamma1 = nn.Parameter(scale * torch.ones(dim))
        self.gamma2 = nn.Parameter(scale * torch.ones(dim))
        self.drop_path = DropPath(drop_path) if drop_path > 0 else nn.Identity()

    def forward(self, x):
        x = x + self.drop_path(self.gamma1 * self.attn(self.norm1(x)))
        return x + self.drop_path(self.gamma2 * self.mlp(self.norm2(x)))


class VisionTransformer(nn.Module):
    def __init__(self, image_size=64, patch_size=8, channels=3, classes=10, dim=96, depth=2, heads=4, drop_path=0.1,
                 norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-6)
        self.patch_embed = PatchEmbed(image_size, patch_size, channels, dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + self.patch_embed.count, dim))
        rates = [x.item() for x in torch.linspace(0, drop_path, depth)]
        self.blocks = nn.Sequential(*[Block(dim, heads, rate, norm_layer) for rate in rates])
        self.norm = norm_layer(dim)
        self.head = nn.Linear(dim, classes)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)

    def forward(self, image):
        x = self.patch_embed(image)
        cls = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((cls, x), dim=1) + self.pos_embed
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0])


if __name__ == "__main__":
    vit = torch.compile(VisionTransformer().cuda())
    images = torch.randn(4, 3, 64, 64, device="cuda")
    labels = torch.randint(0, 10, (4,), device="cuda")
    nn.functional.cross_entropy(vit(images), labels).backward()

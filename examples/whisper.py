"""Speech to text after Whisper: an audio encoder over mel frames, a text decoder with cross-attention, and layers that
work in the activations' type although their weights stay float32."""
from dataclasses import dataclass
from typing import Iterable, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Dimensions:
    mels: int = 40
    audio_ctx: int = 64
    vocab: int = 256
    text_ctx: int = 32
    width: int = 96
    heads: int = 4
    layers: int = 2


class Linear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype), None if self.bias is None else self.bias.to(x.dtype))


class LayerNorm(nn.LayerNorm):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.float()).type(x.dtype)


class Conv1d(nn.Conv1d):
    def _conv_forward(self, x: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
        return super()._conv_forward(x, weight.to(x.dtype), None if bias is None else bias.to(x.dtype))


def sinusoids(length, channels, longest=10000.0):
    steps = torch.log(torch.tensor(longest)) / (channels // 2 - 1)
    inverse = torch.exp(-steps * torch.arange(channels // 2))
    angles = torch.arange(length)[:, None] * inverse[None, :]
    return torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)


class MultiHeadAttention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.value, self.out = Linear(width, width), Linear(width, width), Linear(width, width)
        self.key = Linear(width, width, bias=False)

    def forward(self, x: Tensor, source: Optional[Tensor] = None, mask: Optional[Tensor] = None) -> Tensor:
        source = x if source is None else source
        q, k, v = self.query(x), self.key(source), self.value(source)
        scale = (q.shape[-1] // self.heads) ** -0.25
        q = q.view(*q.shape[:2], self.heads, -1).permute(0, 2, 1, 3) * scale
        k = k.view(*k.shape[:2], self.heads, -1).permute(0, 2, 3, 1) * scale
        v = v.view(*v.shape[:2], self.heads, -1).permute(0, 2, 1, 3)
        scores = q @ k
        if mask is not None:
            scores = scores + mask[: x.shape[1], : x.shape[1]]
        weights = F.softmax(scores.float(), dim=-1).to(q.dtype)
        return self.out((weights @ v).permute(0, 2, 1, 3).flatten(start_dim=2))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, cross: bool = False):
        super().__init__()
        self.attn, self.attn_ln = MultiHeadAttention(width, heads), LayerNorm(width)
        self.cross_attn = MultiHeadAttention(width, heads) if cross else None
        self.cross_ln = LayerNorm(width) if cross else None
        self.mlp = nn.Sequential(Linear(width, width * 4), nn.GELU(), Linear(width * 4, width))
        self.mlp_ln = LayerNorm(width)

    def forward(self, x, source=None, mask=None):
        x = x + self.attn(self.attn_ln(x), mask=mask)
        if self.cross_attn:
            x = x + self.cross_attn(self.cross_ln(x), source)
        return x + self.mlp(self.mlp_ln(x))


class AudioEncoder(nn.Module):
    def __init__(self, dims: Dimensions):
        super().__init__()
        self.conv1 = Conv1d(dims.mels, dims.width, kernel_size=3, padding=1)
        self.conv2 = Conv1d(dims.width, dims.width, kernel_size=3, stride=2, padding=1)
        self.register_buffer("positions", sinusoids(dims.audio_ctx, dims.width))
        self.blocks: Iterable[Block] = nn.ModuleList([Block(dims.width, dims.heads) for _ in range(dims.layers)])
        self.ln_post = LayerNorm(dims.width)

    def forward(self, mel: Tensor):
        x = F.gelu(self.conv2(F.gelu(self.conv1(mel)))).permute(0, 2, 1)
        assert x.shape[1:] == self.positions.shape, "the audio has the wrong length"
        x = (x + self.positions).to(x.dtype)
        for block in self.blocks:
            x = block(x)
        return self.ln_post(x)


class Whisper(nn.Module):
    def __init__(self, dims: Dimensions):
        super().__init__()
        self.encoder = AudioEncoder(dims)
        self.tokens = nn.Embedding(dims.vocab, dims.width)
        self.positions = nn.Parameter(torch.empty(dims.text_ctx, dims.width))
        self.blocks = nn.ModuleList([Block(dims.width, dims.heads, cross=True) for _ in range(dims.layers)])
        self.ln = LayerNorm(dims.width)
        mask = torch.empty(dims.text_ctx, dims.text_ctx).fill_(float("-inf")).triu_(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, mel: Tensor, text: Tensor) -> Tensor:
        audio = self.encoder(mel)
        x = self.tokens(text) + self.positions[: text.shape[-1]]
        for block in self.blocks:
            x = block(x, audio, mask=self.mask)
        return (self.ln(x) @ self.tokens.weight.to(x.dtype).T).float()


if __name__ == "__main__":
    whisper = torch.compile(Whisper(Dimensions()).cuda())
    mel = torch.randn(2, 40, 128, device="cuda")
    text = torch.randint(0, 256, (2, 16), device="cuda")
    F.cross_entropy(whisper(mel, text).transpose(1, 2), text).backward()

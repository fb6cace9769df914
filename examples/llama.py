"""Llama's shape: RMS norm, rotary embeddings by complex numbers, grouped key and value heads, gated feed-forward."""
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class LlamaArgs:
    dim: int = 128
    layers: int = 2
    heads: int = 4
    kv_heads: Optional[int] = 2
    vocab: int = 256
    multiple_of: int = 32
    eps: float = 1e-5
    max_length: int = 256


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        scaled = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return scaled.type_as(x) * self.weight


def rotary_table(dim: int, length: int, base: float = 10000.0) -> torch.Tensor:
    speeds = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
    angles = torch.outer(torch.arange(length).float(), speeds)
    return torch.stack((angles.cos(), angles.sin()), dim=-1)


def rotate(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """turns each pair of channels by its position's angle"""
    *lead, dim = x.shape
    even, odd = x.float().reshape(*lead, dim // 2, 2).unbind(-1)
    cos, sin = table[:, None].unbind(-1)
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).type_as(x)


class Attention(nn.Module):
    def __init__(self, args: LlamaArgs):
        super().__init__()
        self.heads = args.heads
        self.kv_heads = args.heads if args.kv_heads is None else args.kv_heads
        self.groups = self.heads // self.kv_heads
        self.head_dim = args.dim // args.heads
        self.wq = nn.Linear(args.dim, self.heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, self.kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, self.kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(self.heads * self.head_dim, args.dim, bias=False)

    def forward(self, x, table):
        batch, length, _ = x.shape
        q = rotate(self.wq(x).view(batch, length, self.heads, self.head_dim), table)
        k = rotate(self.wk(x).view(batch, length, self.kv_heads, self.head_dim), table)
        v = self.wv(x).view(batch, length, self.kv_heads, self.head_dim)
        k, v = (t.repeat_interleave(self.groups, dim=2) for t in (k, v))
        q, k, v = map(lambda t: t.transpose(1, 2), (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(mixed.transpose(1, 2).reshape(batch, length, -1))


class GatedMLP(nn.Module):
    def __init__(self, dim: int, multiple_of: int):
        super().__init__()
        hidden = multiple_of * ((8 * dim // 3 + multiple_of - 1) // multiple_of)
        self.gate = nn.Linear(dim, hidden, bias=False)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, args: LlamaArgs):
        super().__init__()
        self.attention_norm = RMSNorm(args.dim, args.eps)
        self.attention = Attention(args)
        self.mlp_norm = RMSNorm(args.dim, args.eps)
        self.mlp = GatedMLP(args.dim, args.multiple_of)

    def forward(self, x, table):
        h = x + self.attention(self.attention_norm(x), table)
        return h + self.mlp(self.mlp_norm(h))


class Llama(nn.Module):
    def __init__(self, args: LlamaArgs):
        super().__init__()
        self.embed = nn.Embedding(args.vocab, args.dim)
        self.layers = nn.ModuleList([Layer(args) for _ in range(args.layers)])
        self.norm = RMSNorm(args.dim, args.eps)
        self.output = nn.Linear(args.dim, args.vocab, bias=False)
        self.register_buffer("table", rotary_table(args.dim // args.heads, args.max_length), persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        length = tokens.size(1)
        h = self.embed(tokens)
        for layer in self.layers:
            h = layer(h, self.table[:length])
        return self.output(self.norm(h)).float()


if __name__ == "__main__":
    llama = torch.compile(Llama(LlamaArgs()).cuda())
    tokens = torch.randint(0, 256, (2, 64), device="cuda")
    llama(tokens).logsumexp(-1).mean().backward()

"""A small GPT: token and position embeddings, pre-norm blocks with causal attention, tied output weights.

Open it with FuseLens and hover `attention`, `norm` or the loss to see which kernels they become.
"""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class GPTConfig:
    vocab_size: int = 512
    context: int = 128
    layers: int = 2
    heads: int = 4
    width: int = 128
    dropout: float = 0.0


class CausalSelfAttention(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        assert config.width % config.heads == 0
        self.heads = config.heads
        self.to_qkv = nn.Linear(config.width, 3 * config.width)
        self.proj = nn.Linear(config.width, config.width)
        mask = torch.ones(config.context, config.context).tril().bool()
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (
            part.view(batch, time, self.heads, -1).transpose(1, 2) for part in self.to_qkv(x).split(width, dim=-1)
        )
        # written out, so that the scale, the mask and the softmax can be seen to fuse
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(~self.mask[:time, :time], float("-inf"))
        attention = F.softmax(scores, dim=-1)
        mixed = (attention @ v).transpose(1, 2).reshape(batch, time, width)
        return self.proj(mixed)


class FeedForward(nn.Sequential):
    def __init__(self, config: GPTConfig):
        super().__init__(
            nn.Linear(config.width, 4 * config.width),
            nn.GELU(),
            nn.Linear(4 * config.width, config.width),
            nn.Dropout(config.dropout),
        )


class Block(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.width)
        self.attention = CausalSelfAttention(config)
        self.norm2 = nn.LayerNorm(config.width)
        self.feed_forward = FeedForward(config)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab_size, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocab_size, bias=False)
        self.head.weight = self.tokens.weight
        self.apply(self.initialise)

    def initialise(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, idx, targets=None):
        _, time = idx.shape
        assert time <= self.config.context, "the sequence is longer than the context"
        x = self.tokens(idx) + self.positions(torch.arange(time, device=idx.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


if __name__ == "__main__":
    model = torch.compile(GPT(GPTConfig()).cuda())
    idx = torch.randint(0, 512, (4, 128), device="cuda")
    targets = torch.randint(0, 512, (4, 128), device="cuda")
    _, loss = model(idx, targets)
    loss.backward()

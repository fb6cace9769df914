"""A selective state space model in plain PyTorch: gated blocks, causal depthwise convolution, a short scan by a loop."""
import math
from dataclasses import dataclass, field
from typing import Union

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class MambaArgs:
    width: int = 64
    layers: int = 2
    vocab: int = 128
    state: int = 8
    expand: int = 2
    kernel: int = 4
    dt_rank: Union[int, str] = "auto"
    inner: int = field(init=False)

    def __post_init__(self):
        self.inner = self.expand * self.width
        if self.dt_rank == "auto":
            self.dt_rank = math.ceil(self.width / 16)


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class MambaBlock(nn.Module):
    def __init__(self, args: MambaArgs):
        super().__init__()
        self.args = args
        self.in_proj = nn.Linear(args.width, 2 * args.inner, bias=False)
        self.conv = nn.Conv1d(args.inner, args.inner, args.kernel, groups=args.inner, padding=args.kernel - 1)
        self.x_proj = nn.Linear(args.inner, args.dt_rank + 2 * args.state, bias=False)
        self.dt_proj = nn.Linear(args.dt_rank, args.inner)
        decay = torch.arange(1, args.state + 1, dtype=torch.float32).repeat(args.inner, 1)
        self.A_log = nn.Parameter(torch.log(decay))
        self.D = nn.Parameter(torch.ones(args.inner))
        self.out_proj = nn.Linear(args.inner, args.width, bias=False)

    def forward(self, x):
        length = x.shape[1]
        x, gate = self.in_proj(x).chunk(2, dim=-1)
        x = self.conv(x.transpose(1, 2))[..., :length].transpose(1, 2)
        x = F.silu(x)
        return self.out_proj(self.scan(x) * F.silu(gate))

    def scan(self, x):
        args = self.args
        A = -torch.exp(self.A_log.float())
        delta, B, C = self.x_proj(x).split([args.dt_rank, args.state, args.state], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        # one step a position: h = exp(delta A) h + delta B x, y = C h
        decay = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
        update = torch.einsum("bld,bln,bld->bldn", delta, B, x)
        h = torch.zeros(x.shape[0], args.inner, args.state, device=x.device)
        outputs = []
        for i in range(x.shape[1]):
            h = decay[:, i] * h + update[:, i]
            outputs.append((h @ C[:, i, :, None]).squeeze(-1))
        return torch.stack(outputs, dim=1) + x * self.D


class Residual(nn.Module):
    def __init__(self, args: MambaArgs):
        super().__init__()
        self.mixer = MambaBlock(args)
        self.norm = RMSNorm(args.width)

    def forward(self, x):
        return x + self.mixer(self.norm(x))


class Mamba(nn.Module):
    def __init__(self, args: MambaArgs):
        super().__init__()
        self.embedding = nn.Embedding(args.vocab, args.width)
        self.layers = nn.ModuleList([Residual(args) for _ in range(args.layers)])
        self.norm = RMSNorm(args.width)
        self.lm_head = nn.Linear(args.width, args.vocab, bias=False)
        self.lm_head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


if __name__ == "__main__":
    mamba = torch.compile(Mamba(MambaArgs()).cuda())
    ids = torch.randint(0, 128, (2, 8), device="cuda")
    F.cross_entropy(mamba(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()

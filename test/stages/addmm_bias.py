import torch
import torch.nn.functional as F


@torch.compile
def one(x, w, b):
    return F.linear(torch.relu(x), w, b)


@torch.compile
def scaled(x, w, b):
    return F.linear(x, w, b * 2)


@torch.compile
def full(x, y, r):
    return torch.addmm(r, x, y).relu()


@torch.compile
def fullscaled(x, y, r):
    return torch.addmm(r * 3, x, y, beta=0.5)


@torch.compile
def column(x, y, r):
    return torch.addmm(r, x, y)


@torch.compile
def batched(x, y, r):
    return torch.baddbmm(r, x, y)


@torch.compile
def batchedscaled(x, y, r):
    return torch.baddbmm(r + 1, x, y)


x = torch.randn(128, 64, device="cuda")
one(x, torch.randn(1, 64, device="cuda"), torch.randn(1, device="cuda"))
scaled(x, torch.randn(32, 64, device="cuda"), torch.randn(32, device="cuda"))
scaled(x, torch.randn(1, 64, device="cuda"), torch.randn(1, device="cuda"))
y = torch.randn(64, 32, device="cuda")
full(x, y, torch.randn(128, 32, device="cuda"))
fullscaled(x, y, torch.randn(128, 32, device="cuda"))
column(x, y, torch.randn(128, 1, device="cuda"))
column(x, y, torch.randn((), device="cuda"))
column(x, y, torch.randn(64, 128, device="cuda")[::2].t())
a, b = torch.randn(4, 16, 8, device="cuda"), torch.randn(4, 8, 32, device="cuda")
batched(a, b, torch.randn(32, device="cuda"))
batched(a, b, torch.randn(1, 1, 1, device="cuda"))
batched(a, b, torch.randn(4, 16, 1, device="cuda"))
batchedscaled(a, b, torch.randn(4, 16, 32, device="cuda"))
batchedscaled(a, b, torch.randn(32, device="cuda"))

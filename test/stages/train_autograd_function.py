import torch
import torch.nn as nn
import torch.nn.functional as F

class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bits):
        scale = x.abs().max() / (2 ** (bits - 1) - 1)
        q = torch.round(x / scale)
        ctx.save_for_backward(q)
        ctx.bits = bits
        return q * scale

    @staticmethod
    def backward(ctx, g):
        (q,) = ctx.saved_tensors
        return g * (q.abs() <= 2 ** (ctx.bits - 1) - 1), None


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return F.silu(a) * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        s = torch.sigmoid(a)
        return g * b * s * (1 + a * (1 - s)), g * a * s


class QMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(128, 64))
        self.o = nn.Linear(64, 8)

    def forward(self, x):
        a, b = F.linear(x, STE.apply(self.w, 8)).chunk(2, -1)
        return self.o(SwiGLU.apply(a, b))


net = torch.compile(QMLP().cuda())
net(torch.randn(12, 64, device="cuda")).logsumexp(-1).mean().backward()

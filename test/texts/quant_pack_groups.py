import torch
import torch.nn.functional as F


def quantize(w, group):
    o, i = w.shape
    g = w.reshape(o, i // group, group)
    lo, hi = g.amin(-1, keepdim=True), g.amax(-1, keepdim=True)
    scale = (hi - lo).clamp(min=1e-5) / 15
    zero = (-lo / scale).round()
    q = torch.clamp(torch.round(g / scale) + zero, 0, 15).to(torch.uint8).reshape(o, i)
    packed = q[:, ::2] | (q[:, 1::2] << 4)
    return packed, scale.squeeze(-1).half(), zero.squeeze(-1).to(torch.int8)


def dyn_int8(x):
    s = x.abs().amax(dim=-1, keepdim=True).float() / 127.0
    return (x / s).round().clamp(-128, 127).to(torch.int8), s


@torch.compile
def run(w, x):
    p, s, z = quantize(w, 32)
    low, high = p & 0xF, p >> 4
    q = torch.stack([low, high], -1).view(w.shape)
    deq = (q.view(w.shape[0], -1, 32).half() - z.unsqueeze(-1)) * s.unsqueeze(-1)
    a, sa = dyn_int8(x)
    acc = (a.float() * sa).half()
    return F.linear(acc, deq.view_as(w).half()), p


run(torch.randn(128, 256, device="cuda"), torch.randn(16, 256, device="cuda", dtype=torch.float16))

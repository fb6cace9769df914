"""Products and attention at sizes that are no multiple of any tile; interpret.py has what they give."""
import torch
import torch.nn.functional as F


@torch.compile
def linear_relu(x, w, b):
    return F.relu(F.linear(x, w, b))


@torch.compile
def gate(x, a, b):
    return torch.sigmoid(x @ a.t()) * (x @ b.t())


@torch.compile
def batched(q, k, bias):
    return torch.relu(torch.baddbmm(bias, q, k.transpose(1, 2), alpha=0.5, beta=2.0)) + 1


@torch.compile
def gelu16(x, w):
    return F.gelu(x @ w)


@torch.compile
def tanh16(x, w):
    return F.gelu(x @ w, approximate="tanh")


@torch.compile
def bias_attention(q, k, v, bias):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


@torch.compile
def causal_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


@torch.compile
def long_sum(x, w, b):
    return F.gelu(F.linear(x, w, b))


@torch.compile
def dequantised(x, w, scale):
    return F.relu(F.linear(x, w.to(torch.float16) * scale[:, None]))


@torch.compile
def gated(g, u, w):
    return (F.silu(g) * u) @ w.t()


@torch.compile
def cast(x, w):
    return x.half() @ w.half()


@torch.compile
def turned(x, w):
    return torch.bmm(torch.relu(x).transpose(1, 2), w.transpose(1, 2) * 2)


@torch.compile
def padded(x, w):
    return F.pad(x, (3, 2)) @ w


@torch.compile
def odd_depth(x, w):
    return F.relu(x @ w)


@torch.compile
def odd_edge(x, w):
    return F.relu(x @ w.t())


@torch.compile
def turned_result(x, w):
    return F.relu(x @ w.t()).t().contiguous()


@torch.compile
def turned_batch(x, w):
    return F.relu(torch.bmm(x, w)).transpose(1, 2).contiguous()


@torch.compile
def shared(x, w):
    return F.relu(F.linear(x.transpose(1, 2), w))


@torch.compile
def places(x, w):
    return F.relu(x.permute(0, 2, 3, 1).reshape(-1, x.shape[1]) @ w)


d, h = "cuda", torch.float16
with torch.no_grad():
    linear_relu(torch.randn(70, 36, device=d), torch.randn(44, 36, device=d), torch.randn(44, device=d))
    gate(torch.randn(70, 40, device=d, dtype=h), torch.randn(56, 40, device=d, dtype=h), torch.randn(56, 40, device=d, dtype=h))
    batched(torch.randn(3, 17, 40, device=d), torch.randn(3, 21, 40, device=d), torch.randn(3, 1, 21, device=d))
    gelu16(torch.randn(300, 72, device=d, dtype=h), torch.randn(72, 136, device=d, dtype=h))
    tanh16(torch.randn(300, 72, device=d, dtype=h), torch.randn(72, 136, device=d, dtype=h))
    odd_depth(torch.randn(70, 83, device=d, dtype=h), torch.randn(83, 48, device=d, dtype=h))
    odd_edge(torch.randn(70, 40, device=d, dtype=h), torch.randn(45, 40, device=d, dtype=h))
    turned_result(torch.randn(72, 40, device=d, dtype=h), torch.randn(200, 40, device=d, dtype=h))
    turned_batch(torch.randn(3, 24, 40, device=d, dtype=h), torch.randn(3, 40, 136, device=d, dtype=h))
    shared(torch.randn(3, 40, 72, device=d, dtype=h), torch.randn(48, 40, device=d, dtype=h))
    places(torch.randn(2, 40, 4, 8, device=d, dtype=h), torch.randn(40, 136, device=d, dtype=h))
    bias_attention(torch.randn(2, 3, 40, 32, device=d, dtype=h), torch.randn(2, 3, 56, 32, device=d, dtype=h), torch.randn(2, 3, 56, 32, device=d, dtype=h), torch.randn(40, 56, device=d, dtype=h))
    causal_attention(torch.randn(2, 4, 200, 16, device=d, dtype=h), torch.randn(2, 2, 200, 16, device=d, dtype=h), torch.randn(2, 2, 200, 16, device=d, dtype=h))
    long_sum(torch.randn(17, 2000, device=d, dtype=h), torch.randn(45, 2000, device=d, dtype=h), torch.randn(45, device=d, dtype=h))
    dequantised(torch.randn(17, 2000, device=d, dtype=h), torch.zeros(45, 2000, device=d, dtype=torch.int8), torch.randn(45, device=d, dtype=h))
    gated(torch.randn(33, 72, device=d, dtype=h), torch.randn(33, 72, device=d, dtype=h), torch.randn(40, 72, device=d, dtype=h))
    cast(torch.randn(70, 36, device=d), torch.randn(36, 44, device=d))
    turned(torch.randn(3, 50, 33, device=d), torch.randn(3, 40, 50, device=d))
    padded(torch.randn(33, 45, device=d), torch.randn(50, 40, device=d))

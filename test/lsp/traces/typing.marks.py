import torch


def scale(v):
    return v * 0.5


@torch.compile
def block(x, w):
    h = x @ w
    #   ^^^^^ extern_kernels.mm, f32[256, 512]
    g = torch.sigmoid(h) * h
    #   ^^^^^^^^^^^^^^^^ aten.sigmoid, triton_
    s = g.sum(dim=-1, keepdim=True)
    #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ aten.sum, f32[256, 1]
    return g / s, scale(h)


block(torch.randn(256, 512, device="cuda"), torch.randn(512, 512, device="cuda"))

import torch


@torch.compile
def f(x, w):
    h = x @ w
    top = h[:10]
    cols = h.t()
    flat = h.view(-1)
    return h, top, cols, flat[5:25], x.unsqueeze(0)


f(torch.randn(40, 64, device="cuda"), torch.randn(64, 48, device="cuda"))

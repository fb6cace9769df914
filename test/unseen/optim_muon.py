import torch


@torch.compile
def newton_schulz(g, steps: int = 3):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.bfloat16()
    if g.size(0) > g.size(1):
        x = x.T
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    if g.size(0) > g.size(1):
        x = x.T
    return x


newton_schulz(torch.randn(128, 64, device="cuda"))

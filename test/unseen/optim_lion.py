import torch


@torch.compile
def lion(p, g, m, lr, b1, b2, wd):
    p.mul_(1 - lr * wd)
    update = m * b1 + g * (1 - b1)
    p.add_(torch.sign(update), alpha=-lr)
    m.mul_(b2).add_(g, alpha=1 - b2)


p = torch.randn(500, 300, device="cuda")
g = torch.randn(500, 300, device="cuda")
m = torch.zeros(500, 300, device="cuda")
lion(p, g, m, 1e-4, 0.9, 0.99, 0.1)

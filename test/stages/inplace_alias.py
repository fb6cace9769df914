import torch

@torch.compile
def f(x, y):
    a = x[:, ::2]
    a.mul_(2)
    b = x.t()
    b[0].add_(y)
    c = x.view(-1)[10:30]
    c.copy_(torch.arange(20, device=x.device))
    x.clamp_(min=0).add_(1)
    z = torch.empty_like(x).fill_(3.0)
    z[1:3].zero_()
    z.diagonal().add_(y[:8])
    return x.sum(), z, a, b


x = torch.randn(8, 40, device="cuda")
y = torch.randn(8, device="cuda")
f(x, y)

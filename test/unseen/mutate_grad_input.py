import torch


@torch.compile
def f(x, buf):
    y = x.sin()
    buf.copy_(y.detach())
    y.mul_(2)
    return (y * buf).sum()


x = torch.randn(333, 45, device="cuda", requires_grad=True)
buf = torch.zeros(333, 45, device="cuda")
f(x, buf).backward()

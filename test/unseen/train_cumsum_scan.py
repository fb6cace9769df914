import torch


@torch.compile
def f(x, decay):
    g = torch.sigmoid(decay).log().cumsum(1)
    y = (x * torch.exp(-g)).cumsum(1) * torch.exp(g)
    return y.logsumexp(-1).mean()


x = torch.randn(12, 90, 20, device="cuda", requires_grad=True)
decay = torch.randn(12, 90, 1, device="cuda", requires_grad=True)
f(x, decay).backward()

import torch
import torch.nn.functional as F

@torch.compile
def f(x):
    a = F.dropout(x, 0.3) + torch.rand_like(x)
    b = torch.randn(x.shape, device=x.device) * 0.1
    c = torch.randint(0, 10, (x.size(0),), device=x.device)
    d = F.gumbel_softmax(x, tau=0.5)
    e = torch.bernoulli(x.sigmoid())
    return a + b, c, d, e, torch.randperm(32, device=x.device)


f(torch.randn(20, 60, device="cuda"))

import torch
import torch.nn.functional as F

@torch.compile
def f(x, w):
    y = F.channel_shuffle(x, 4) + F.rrelu(x, 0.1, 0.3, training=True)
    q = torch.quantile(y.flatten(1), 0.25, dim=1)
    k = torch.kron(w, w).sum() + torch.mvlgamma(w.abs() + 3, 2).mean()
    return F.logsigmoid(y).mean() + q.sum() + k + F.group_norm(y.transpose(2, 3), 4).square().mean()


x = torch.randn(2, 8, 5, 6, device="cuda", requires_grad=True)
w = torch.randn(3, 3, device="cuda", requires_grad=True)
f(x, w).backward()

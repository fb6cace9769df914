# A beta that is given as a default's number is not always told from the default.
import torch
import torch.nn.functional as F
from torch import nn

m = nn.Sequential(nn.Linear(8, 8), nn.Softplus(), nn.Mish(), nn.Softplus(2), nn.Softplus(1, 20)).cuda()


@torch.compile
def f(x):
    return m(x) + F.softplus(x) + F.softplus(x, 1) + F.softplus(x, beta=1.0) + F.softplus(x, 1, 10)


x = torch.randn(4, 8, device="cuda")
with torch.no_grad():
    f(x)
f(x).sum().backward()

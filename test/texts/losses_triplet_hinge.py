import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(a, p, n, y):
    t = F.triplet_margin_loss(a, p, n)
    c = F.cosine_embedding_loss(a, p, y)
    m = F.margin_ranking_loss(a[:, 0], p[:, 0], y)
    g = F.poisson_nll_loss(a, p.exp())
    return t, c, m, g

f(torch.randn(70, 50, device="cuda"), torch.randn(70, 50, device="cuda"), torch.randn(70, 50, device="cuda"), torch.ones(70, device="cuda"))

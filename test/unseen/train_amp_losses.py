import torch
import torch.nn as nn
import torch.nn.functional as F

lin = nn.Linear(64, 24).cuda()


@torch.compile
def step(x, t):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        h = F.normalize(lin(x), dim=-1)
        sim = h @ h.t()
        ls = F.log_softmax(sim, dim=-1)
        return F.mse_loss(h, t) + F.l1_loss(ls.exp(), sim) + h.norm(dim=-1).mean() + h.sum(1).var()


step(torch.randn(96, 64, device="cuda"), torch.randn(96, 24, device="cuda")).backward()

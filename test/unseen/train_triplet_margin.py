import torch
import torch.nn as nn
import torch.nn.functional as F

embed = nn.Linear(300, 72).cuda()


@torch.compile
def loss_fn(a, p, n):
    ea, ep, en = (F.normalize(embed(t), dim=-1) for t in (a, p, n))
    return F.triplet_margin_loss(ea, ep, en, margin=0.3)


a, p, n = (torch.randn(500, 300, device="cuda") for _ in range(3))
loss_fn(a, p, n).backward()

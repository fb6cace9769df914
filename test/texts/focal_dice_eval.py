import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, t):
    p = x.sigmoid()
    ce = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    pt = p * t + (1 - p) * (1 - t)
    focal = (0.25 * t + 0.75 * (1 - t)) * ce * (1 - pt) ** 2
    inter = (p * t).flatten(1).sum(1)
    dice = 1 - (2 * inter + 1) / (p.flatten(1).sum(1) + t.flatten(1).sum(1) + 1)
    return focal.mean(), dice.mean()

f(torch.randn(6, 1, 90, 90, device="cuda"), (torch.rand(6, 1, 90, 90, device="cuda") > 0.5).float())

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(d, anchors):
    w = anchors[:, 2] - anchors[:, 0]
    h = anchors[:, 3] - anchors[:, 1]
    cx = anchors[:, 0] + 0.5 * w + d[:, 0] * w
    cy = anchors[:, 1] + 0.5 * h + d[:, 1] * h
    nw = torch.exp(d[:, 2].clamp(max=4.1)) * w
    nh = torch.exp(d[:, 3].clamp(max=4.1)) * h
    return torch.stack([cx - nw / 2, cy - nh / 2, cx + nw / 2, cy + nh / 2], dim=1)

f(torch.randn(5000, 4, device="cuda"), torch.rand(5000, 4, device="cuda"))

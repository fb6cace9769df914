import torch
import torch.nn.functional as F


@torch.compile
def loss(pred, target, weight):
    h = F.huber_loss(pred, target, reduction="none", delta=0.5)
    l1 = F.smooth_l1_loss(pred, target, beta=0.2)
    return (h * weight).sum() / weight.sum() + 0.1 * l1


pred = torch.randn(700, 13, device="cuda", requires_grad=True)
loss(pred, torch.randn(700, 13, device="cuda"), torch.rand(700, 1, device="cuda")).backward()

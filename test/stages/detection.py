import torch
import torch.nn.functional as F

@torch.compile
def decode(reg, cls, anchors, gt):
    wh = anchors[:, 2:] - anchors[:, :2]
    ctr = anchors[:, :2] + wh / 2
    c = ctr + reg[..., :2] * wh
    s = wh * reg[..., 2:].clamp(max=4.0).exp()
    boxes = torch.cat([c - s / 2, c + s / 2], -1)
    lt = torch.maximum(boxes[:, :, None, :2], gt[:, None, :, :2])
    rb = torch.minimum(boxes[:, :, None, 2:], gt[:, None, :, 2:])
    inter = (rb - lt).clamp_(min=0).prod(-1)
    area = lambda b: (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
    iou = inter / (area(boxes)[:, :, None] + area(gt)[:, None] - inter)
    best, idx = iou.max(-1)
    pos = best > 0.5
    p = cls.sigmoid()
    pt = torch.where(pos, p, 1 - p)
    focal = -((1 - pt) ** 2) * pt.clamp(min=1e-8).log()
    tb = torch.gather(gt, 1, idx[..., None].expand(-1, -1, 4))
    l1 = F.smooth_l1_loss(boxes, tb, reduction="none").sum(-1) * pos
    return focal.sum() / pos.sum().clamp(min=1), l1.mean()


decode(torch.randn(2, 100, 4, device="cuda"), torch.randn(2, 100, device="cuda"), torch.rand(100, 4, device="cuda"), torch.rand(2, 6, 4, device="cuda"))

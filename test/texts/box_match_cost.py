import torch


def corners(b):
    x, y, w, h = b.unbind(-1)
    return torch.stack([x - 0.5 * w, y - 0.5 * h, x + 0.5 * w, y + 0.5 * h], dim=-1)


@torch.compile
def cost(logits, boxes, labels, targets):
    prob = logits.flatten(0, 1).softmax(-1)
    a, b = corners(boxes.flatten(0, 1)), corners(targets)
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt, rb = torch.max(a[:, None, :2], b[:, :2]), torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    union = area_a[:, None] + area_b - inter
    iou = inter / union
    lt, rb = torch.min(a[:, None, :2], b[:, :2]), torch.max(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    hull = wh[:, :, 0] * wh[:, :, 1]
    giou = iou - (hull - union) / hull
    l1 = torch.cdist(boxes.flatten(0, 1), targets, p=1)
    return 5 * l1 - prob[:, labels] - 2 * giou


cost(torch.randn(2, 50, 21, device="cuda"), torch.rand(2, 50, 4, device="cuda"), torch.randint(0, 21, (9,), device="cuda"), torch.rand(9, 4, device="cuda"))

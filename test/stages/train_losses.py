import torch
import torch.nn.functional as F

def criterion(a, b, t):
    return (F.smooth_l1_loss(a, b) + F.huber_loss(a, b, delta=2.0) + F.kl_div(F.log_softmax(a, -1), F.softmax(b, -1))
            + F.binary_cross_entropy_with_logits(a, b.sigmoid()) + F.multi_margin_loss(a, t)
            + F.triplet_margin_loss(a, b, b.roll(1, 0)) + F.cosine_embedding_loss(a, b, torch.ones_like(t)))


f = torch.compile(criterion)
a = torch.randn(33, 17, device="cuda", requires_grad=True)
b = torch.randn(33, 17, device="cuda")
t = torch.randint(0, 17, (33,), device="cuda")
f(a, b, t).backward()

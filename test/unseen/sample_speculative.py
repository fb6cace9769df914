import torch
import torch.nn.functional as F


@torch.compile
def verify(draft_logits, target_logits, tokens, u):
    p = F.softmax(target_logits / 0.7, -1)
    q = F.softmax(draft_logits / 0.7, -1)
    pt = p.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    qt = q.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    ok = u < torch.minimum(torch.ones_like(pt), pt / qt)
    n = ok.int().cumprod(-1).sum(-1)
    residual = (p - q).clamp(min=0)
    residual = residual / residual.sum(-1, keepdim=True)
    fixed = residual.argmax(-1)
    return n, torch.where(ok, tokens, fixed)


verify(
    torch.randn(4, 5, 32000, device="cuda"),
    torch.randn(4, 5, 32000, device="cuda"),
    torch.randint(0, 32000, (4, 5), device="cuda"),
    torch.rand(4, 5, device="cuda"),
)

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, g, w1, w2):
    p = (x @ g).softmax(-1)
    v, i = p.topk(2, dim=-1)
    v = v / v.sum(-1, keepdim=True)
    h = torch.einsum("td,edh->teh", x, w1)
    o = torch.einsum("teh,ehd->ted", F.gelu(h), w2)
    return (o.gather(1, i.unsqueeze(-1).expand(-1, -1, x.size(1))) * v.unsqueeze(-1)).sum(1)

with torch.no_grad():
    f(torch.randn(90, 64, device="cuda"), torch.randn(64, 8, device="cuda"), torch.randn(8, 64, 96, device="cuda"), torch.randn(8, 96, 64, device="cuda"))

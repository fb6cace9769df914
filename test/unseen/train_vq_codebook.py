import torch
import torch.nn as nn
import torch.nn.functional as F


class VQ(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.codes = nn.Embedding(n, d)

    def forward(self, z):
        d = z.pow(2).sum(1, keepdim=True) - 2 * z @ self.codes.weight.t() + self.codes.weight.pow(2).sum(1)
        idx = d.argmin(1)
        q = self.codes(idx)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss, idx


z = torch.randn(200, 24, device="cuda", requires_grad=True)
q, l, _ = torch.compile(VQ(64, 24).cuda())(z)
(q.sum() + l).backward()

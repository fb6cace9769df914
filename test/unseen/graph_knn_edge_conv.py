import torch
import torch.nn as nn


class Edge(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.b = nn.Conv2d(6, 16, 1, bias=False), nn.BatchNorm2d(16)

    def forward(self, x):
        n, c, p = x.shape
        inner = -2 * torch.matmul(x.transpose(2, 1), x)
        xx = torch.sum(x**2, dim=1, keepdim=True)
        idx = (-xx - inner - xx.transpose(2, 1)).topk(k=8, dim=-1)[1]
        base = torch.arange(0, n, device=x.device).view(-1, 1, 1) * p
        idx = (idx + base).view(-1)
        xt = x.transpose(2, 1).contiguous()
        f = xt.view(n * p, -1)[idx, :].view(n, p, 8, c)
        xt = xt.view(n, p, 1, c).repeat(1, 1, 8, 1)
        e = torch.cat((f - xt, xt), dim=3).permute(0, 3, 1, 2).contiguous()
        return nn.functional.leaky_relu(self.b(self.c(e)), 0.2).max(dim=-1, keepdim=False)[0]


m = torch.compile(Edge().cuda().eval())
with torch.no_grad():
    m(torch.randn(2, 3, 100, device="cuda"))

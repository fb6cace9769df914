import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, 4)
        self.norm = nn.LayerNorm(d)

    def forward(self, x, m):
        y, w = self.attn(x, x, x, attn_mask=m)
        return self.norm(x + y), w


m = torch.compile(Net().cuda().eval())
mask = torch.triu(torch.ones(21, 21, dtype=torch.bool, device="cuda"), 1)
with torch.no_grad():
    m(torch.randn(21, 3, 64, device="cuda"), mask)

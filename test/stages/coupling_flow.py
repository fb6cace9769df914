"""Affine coupling with the log determinant."""
import torch
import torch.nn as nn
import torch.nn.functional as F



class Coupling(nn.Module):
    def __init__(self, dim=8, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim // 2, hidden), nn.ReLU(), nn.Linear(hidden, dim))
        self.register_buffer("order", torch.arange(dim - 1, -1, -1))

    def forward(self, x):
        a, b = x[:, ::2], x[:, 1::2]
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        y = torch.stack([a, b * s.exp() + t], dim=2).flatten(1)
        return y[:, self.order], s.sum(1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Coupling() for _ in range(3))

    def forward(self, x):
        total = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, logdet = layer(x)
            total = total + logdet
        prior = -0.5 * (x ** 2 + 1.8378770664093453).sum(1)
        return -(prior + total).mean()


model = torch.compile(Flow().cuda())
x = torch.randn(256, 8, device="cuda")


def train_step():
    loss = model(x)
    loss.backward()
    return loss


train_step()

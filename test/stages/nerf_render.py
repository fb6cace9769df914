"""Volume rendering: positional encoding, an MLP, transmittance by cumprod."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Field(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3 + 3 * 2 * 4, width), nn.ReLU(), nn.Linear(width, 4))

    def forward(self, points, deltas):
        bands = 2.0 ** torch.arange(4, device=points.device)
        angles = (points[..., None, :] * bands[:, None]).flatten(-2)
        h = self.net(torch.cat([points, angles.sin(), angles.cos()], -1))
        rgb, sigma = torch.sigmoid(h[..., :3]), F.relu(h[..., 3])
        alpha = 1 - torch.exp(-sigma * deltas)
        ones = torch.ones_like(alpha[:, :1])
        trans = torch.cumprod(torch.cat([ones, 1 - alpha + 1e-10], 1), 1)[:, :-1]
        weights = alpha * trans
        return (weights[..., None] * rgb).sum(1), weights.sum(1)


model = torch.compile(Field().cuda())
points = torch.randn(256, 32, 3, device="cuda")
deltas = torch.rand(256, 32, device="cuda")


def train_step():
    rgb, acc = model(points, deltas)
    loss = rgb.square().mean() + acc.mean()
    loss.backward()
    return loss


train_step()

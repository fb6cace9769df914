"""Weight-normalized convolutions with a residual and a gate."""
import torch
import torch.nn as nn
from torch.nn.utils import weight_norm


class Gate(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(c, 2 * c, 3, padding=2, dilation=2))
        self.skip = nn.Conv1d(c, c, 1)

    def forward(self, x):
        a, b = self.conv(x).chunk(2, 1)
        y = torch.tanh(a) * torch.sigmoid(b)
        return x + self.skip(y), y


model = torch.compile(Gate().cuda())
x = torch.randn(8, 32, 128, device="cuda")


def train_step():
    y, s = model(x)
    loss = y.square().mean() + s.mean()
    loss.backward()
    return loss


train_step()

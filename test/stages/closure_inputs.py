# Which tensors become inputs first: those that a nested function closes over, and any function's first argument.
import torch
from torch import nn


def twice(y, weight):
    return y @ weight + y


class Parallel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 16)])
        self.scale = nn.Parameter(torch.ones(16))

    def forward(self, x):
        y = torch.cat(tuple(map(lambda layer: layer(x), self.layers)))
        return y + sum(layer(x) for layer in self.layers).repeat(2, 1)


class Deferred(Parallel):
    def forward(self, x):
        later = lambda layer: layer(x)
        y = self.scale * 2
        return later(self.layers[0]) + y


class Handed(Parallel):
    def forward(self, x):
        def add(z):
            return z + self.scale

        return twice(x, self.layers[1].weight) + add(x)


class Outer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


x = torch.randn(8, 16, device="cuda")
with torch.no_grad():
    for model in (Parallel(), Deferred(), Handed(), Outer(Parallel()), Outer(Handed())):
        torch._dynamo.reset()
        torch.compile(model.cuda())(x)

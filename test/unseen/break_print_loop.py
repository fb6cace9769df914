import torch
import torch.nn as nn

lin = nn.Linear(44, 44).cuda()


@torch.compile
def f(x):
    for i in range(2):
        x = torch.relu(lin(x))
        print("layer", i)
    return x.mean()


f(torch.randn(30, 44, device="cuda")).backward()

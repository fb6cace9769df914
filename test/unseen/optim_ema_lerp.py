import torch
import torch.nn as nn

net = nn.Linear(130, 70).cuda()
ema = nn.Linear(130, 70).cuda()


@torch.compile
@torch.no_grad()
def update(decay):
    for e, p in zip(ema.parameters(), net.parameters()):
        e.lerp_(p, 1 - decay)


update(0.999)

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(256, 512), nn.SiLU(), nn.LayerNorm(512), nn.Linear(512, 100)).cuda()


@torch.compile
def step(x, y):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(net(x), y)
    return loss


x = torch.randn(320, 256, device="cuda")
y = torch.randint(0, 100, (320,), device="cuda")
step(x, y).backward()

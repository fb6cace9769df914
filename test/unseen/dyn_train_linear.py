import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(48, 96), nn.GELU(), nn.LayerNorm(96), nn.Linear(96, 10)).cuda()
compiled = torch.compile(model, dynamic=True)
x = torch.randn(23, 48, device="cuda")
compiled(x).square().mean().backward()

import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(120, 240), nn.GELU(), nn.Dropout(0.1), nn.Linear(240, 60), nn.Dropout(0.2)).cuda()
run = torch.compile(net)
x = torch.randn(90, 120, device="cuda")
run(x).sum().backward()

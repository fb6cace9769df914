import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(33, 66), nn.Hardtanh(), nn.Linear(66, 11)).cuda().eval()
run = torch.compile(net)
with torch.inference_mode():
    run(torch.randn(29, 33, device="cuda"))

import torch
import torch.nn as nn

net = nn.Sequential(nn.Conv2d(3, 18, 3, stride=2, padding=1), nn.BatchNorm2d(18), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                    nn.Linear(18, 9)).cuda()


@torch.compile
def step(x):
    with torch.autocast("cuda", dtype=torch.float16):
        y = net(x)
        return y.float().pow(2).mean() + y.sum(dim=-1).mean()


step(torch.randn(5, 3, 46, 46, device="cuda")).backward()

import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 4)).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)


@torch.compile
def forward_loss(x, y):
    return F.cross_entropy(model(x), y)


for _ in range(2):
    opt.zero_grad()
    forward_loss(torch.randn(16, 24, device="cuda"), torch.randint(0, 4, (16,), device="cuda")).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()

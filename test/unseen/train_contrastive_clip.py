import torch
import torch.nn as nn
import torch.nn.functional as F


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.img = nn.Linear(512, 128, bias=False)
        self.txt = nn.Linear(384, 128, bias=False)
        self.scale = nn.Parameter(torch.tensor(2.6592))

    def forward(self, i, t):
        a = F.normalize(self.img(i), dim=-1)
        b = F.normalize(self.txt(t), dim=-1)
        logits = self.scale.exp() * a @ b.t()
        labels = torch.arange(logits.shape[0], device=logits.device)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


clip = torch.compile(Clip().cuda())
loss = clip(torch.randn(200, 512, device="cuda"), torch.randn(200, 384, device="cuda"))
loss.backward()

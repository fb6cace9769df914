"""Contrastive loss of two towers with a learned temperature."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(512, 256), nn.GELU(), nn.Linear(256, 128))
        self.text = nn.Sequential(nn.Linear(384, 256), nn.GELU(), nn.Linear(256, 128))
        self.scale = nn.Parameter(torch.tensor(2.659))

    def forward(self, image, text):
        a = F.normalize(self.image(image), dim=-1)
        b = F.normalize(self.text(text), dim=-1)
        logits = self.scale.exp().clamp(max=100) * a @ b.t()
        labels = torch.arange(logits.shape[0], device=logits.device)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


model = torch.compile(Towers().cuda())
image = torch.randn(256, 512, device="cuda")
text = torch.randn(256, 384, device="cuda")


def train_step():
    loss = model(image, text)
    loss.backward()
    return loss


train_step()

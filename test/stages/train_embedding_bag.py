import torch
import torch.nn as nn
import torch.nn.functional as F

class Rec(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(200, 16, mode="sum")
        self.emb = nn.Embedding(50, 16, padding_idx=0, max_norm=None)
        self.fm = nn.Linear(16, 1)

    def forward(self, ids, cats, offs):
        a = self.bag(ids, offs)
        e = self.emb(cats)
        inter = 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1))
        return torch.sigmoid(self.fm(a * inter)).squeeze(-1)


net = torch.compile(Rec().cuda())
ids = torch.randint(0, 200, (60,), device="cuda")
offs = torch.arange(0, 60, 5, device="cuda")
cats = torch.randint(0, 50, (12, 6), device="cuda")
F.binary_cross_entropy(net(ids, cats, offs), torch.rand(12, device="cuda")).backward()

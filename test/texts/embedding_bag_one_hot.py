import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(1000, 48, padding_idx=0)
        self.b = nn.EmbeddingBag(500, 32, mode="sum")

    def forward(self, i, j):
        x = self.e(i).mean(1)
        y = self.b(j)
        return torch.cat([x, y], -1), F.one_hot(i[:, 0] % 7, 7).float()

net = torch.compile(Net().cuda().eval())
with torch.no_grad():
    net(torch.randint(0, 1000, (20, 11), device="cuda"), torch.randint(0, 500, (20, 6), device="cuda"))

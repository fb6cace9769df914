import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 64, padding_idx=0)
        self.pos = nn.Parameter(torch.randn(1, 40, 64))
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(64, 9)

    def forward(self, ids):
        pad = ids == 0
        x = self.emb(ids) + self.pos[:, : ids.size(1)]
        x = self.enc(x.transpose(0, 1), src_key_padding_mask=pad)
        return self.out(x.transpose(0, 1))


m = torch.compile(Tagger().cuda().eval())
with torch.no_grad():
    m(torch.randint(0, 100, (3, 21), device="cuda"))

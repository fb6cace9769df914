import torch
import torch.nn as nn


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"a": nn.Linear(60, 7), "b": nn.Linear(60, 11)})
        self.scale = {"a": 0.5, "b": 2.0}

    def forward(self, batch):
        out = {k: h(batch["x"]) * self.scale[k] for k, h in self.heads.items()}
        out["total"] = sum(v.abs().mean() for v in out.values())
        return out


net = torch.compile(Multi().cuda())
out = net({"x": torch.randn(25, 60, device="cuda")})
out["total"].backward()

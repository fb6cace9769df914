import torch
import torch.nn as nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(17, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mean = nn.Linear(64, 6)
        self.value = nn.Linear(64, 1)
        self.log_std = nn.Parameter(torch.zeros(6))

    def forward(self, obs, act, old_logp, adv, ret):
        h = self.body(obs)
        mean, std = self.mean(h), self.log_std.exp()
        logp = (-((act - mean) ** 2) / (2 * std**2) - self.log_std - 0.9189).sum(-1)
        ratio = (logp - old_logp).exp()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        pg = torch.max(-adv * ratio, -adv * ratio.clamp(0.8, 1.2)).mean()
        v = (self.value(h).squeeze(-1) - ret).pow(2).mean()
        ent = (self.log_std + 1.4189).sum()
        return pg + 0.5 * v - 0.01 * ent


net = torch.compile(ActorCritic().cuda())
n = 1000
d = "cuda"
net(torch.randn(n, 17, device=d), torch.randn(n, 6, device=d), torch.randn(n, device=d), torch.randn(n, device=d),
    torch.randn(n, device=d)).backward()

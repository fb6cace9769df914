"""Generator and discriminator, each compiled, one after the other."""
import torch
import torch.nn as nn
import torch.nn.functional as F

G = torch.compile(nn.Sequential(nn.Linear(64, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 784), nn.Tanh()).cuda())
D = torch.compile(nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Dropout(0.0), nn.Linear(256, 1)).cuda())
z = torch.randn(128, 64, device="cuda")
real = torch.randn(128, 784, device="cuda")


def train_step():
    fake = G(z)
    d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
    d_loss.backward()
    g_loss = F.softplus(-D(fake)).mean()
    g_loss.backward()
    return g_loss


train_step()

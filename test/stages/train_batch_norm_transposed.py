import torch
import torch.nn as nn
import torch.nn.functional as F

bn = nn.BatchNorm1d(6).cuda()


@torch.compile
def f(x):
    return F.logsigmoid(bn(x.transpose(1, 2))).mean()


f(torch.rand(4, 5, 6, device="cuda", requires_grad=True)).backward()

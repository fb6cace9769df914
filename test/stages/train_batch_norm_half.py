import torch
import torch.nn as nn
import torch.nn.functional as F

bn = nn.BatchNorm2d(6).cuda().half()


@torch.compile
def f(x):
    return F.logsigmoid(bn(x * 2)).mean()


f(torch.rand(4, 6, 5, 6, device="cuda", dtype=torch.float16, requires_grad=True)).backward()

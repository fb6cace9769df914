import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, w):
    y = F.elu(x) + F.selu(x) + F.celu(x, 0.5) + F.hardtanh(x) + F.relu6(x) + F.logsigmoid(x)
    z = F.prelu(x, w) + F.softsign(x) + F.tanhshrink(x) + F.hardsigmoid(x) + F.threshold(x, 0.1, 20.0) + F.softshrink(x)
    return y, z, F.glu(x, 1)

f(torch.randn(50, 8, 30, device="cuda"), torch.rand(8, device="cuda"))

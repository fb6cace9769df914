import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(p, g, m, v, step):
    step += 1
    p.mul_(1 - 1e-3 * 0.01)
    m.lerp_(g, 0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    bc1 = 1 - 0.9 ** step
    bc2 = (1 - 0.999 ** step).sqrt()
    p.addcdiv_(m / bc1, v.sqrt() / bc2 + 1e-8, value=-1e-3)

with torch.no_grad():
    f(torch.randn(300, 70, device="cuda"), torch.randn(300, 70, device="cuda"), torch.zeros(300, 70, device="cuda"), torch.zeros(300, 70, device="cuda"), torch.tensor(3.0, device="cuda"))

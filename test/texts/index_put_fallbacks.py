import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, m, v, c, i):
    y = x.clone()
    y[m] = v
    z = c.clone()
    z.index_put_((i,), torch.ones_like(i), accumulate=True)
    return y * 2, z

f(torch.randn(40, 30, device="cuda"), torch.rand(40, 30, device="cuda") > 0.5, torch.tensor(2.0, device="cuda"), torch.zeros(20, device="cuda", dtype=torch.long), torch.randint(0, 20, (50,), device="cuda"))

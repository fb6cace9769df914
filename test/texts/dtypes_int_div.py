import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

@torch.compile
def f(x, y):
    a = x // 3 + y % 5
    b = torch.div(x, y + 1, rounding_mode="trunc")
    c = (x / 7).to(torch.float16)
    d = x.float().round().to(torch.uint8) << 1
    return a, b, c, d, (x ^ y).bool()

f(torch.randint(-50, 50, (400, 31), device="cuda"), torch.randint(0, 50, (400, 31), device="cuda", dtype=torch.int32))

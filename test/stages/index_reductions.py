# Indices of reductions are converted to the dtype of what was compared.
import torch


@torch.compile
def f(x, y):
    return x.argmax(1), y.argmin(1)


for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.uint8):
    torch._dynamo.reset()
    f(torch.ones(64, 100, device="cuda", dtype=dtype), torch.ones(64, 5000, device="cuda", dtype=dtype))

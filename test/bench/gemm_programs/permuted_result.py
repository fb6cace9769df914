"""A linear layer and relu whose result is wanted transposed: mixing along another dimension follows."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def permuted_result(x, w):
    return F.relu(F.linear(x, w)).t().contiguous()


x = torch.randn(8192, 1024, device="cuda", dtype=torch.float16)
w = torch.randn(2048, 1024, device="cuda", dtype=torch.float16)
with torch.no_grad():
    permuted_result(x, w)

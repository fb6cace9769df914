"""A transposed copy of 256 MB."""

import torch
import torch.nn.functional as F


@torch.compile
def transposed_copy(a):
    return a.t().contiguous()


a = torch.randn(16384, 4096, device="cuda")
transposed_copy(a)

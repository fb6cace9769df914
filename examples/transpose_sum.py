"""A column sum and a transposed copy of one tensor: both read all of it, in different orders."""

import torch


@torch.compile
def sum_and_transpose(x):
    total = x.sum(dim=0)
    flipped = x.t().contiguous()
    return total, flipped


x = torch.randn(8192, 3072, device="cuda")
total, flipped = sum_and_transpose(x)

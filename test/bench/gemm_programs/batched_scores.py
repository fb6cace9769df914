"""Products of a batch, scaled, with a bias added to each."""
import torch


@torch.compile(mode="max-autotune-no-cudagraphs")
def batched_scores(q, k, bias):
    return (q @ k.transpose(1, 2)) * 0.125 + bias


q = torch.randn(64, 1024, 64, device="cuda", dtype=torch.bfloat16)
k = torch.randn(64, 1024, 64, device="cuda", dtype=torch.bfloat16)
bias = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
batched_scores(q, k, bias)

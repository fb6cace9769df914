"""A layer of odd width after an activation: the kernel that computes the operand can write rows that are padded."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def padded_producer(x, gate, w, b):
    return torch.relu(F.linear(F.silu(gate) * x, w, b))


x = torch.randn(16384, 1021, device="cuda", dtype=torch.bfloat16)
gate = torch.randn(16384, 1021, device="cuda", dtype=torch.bfloat16)
w = torch.randn(2048, 1021, device="cuda", dtype=torch.bfloat16)
b = torch.randn(2048, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    padded_producer(x, gate, w, b)

"""The second half of a Llama feed-forward block: a gate, and the projection down, for 16 tokens."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def gated_down_few(gate, up, w):
    return F.linear(F.silu(gate) * up, w)


gate = torch.randn(16, 14336, device="cuda", dtype=torch.bfloat16)
up = torch.randn(16, 14336, device="cuda", dtype=torch.bfloat16)
w = torch.randn(4096, 14336, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    gated_down_few(gate, up, w)

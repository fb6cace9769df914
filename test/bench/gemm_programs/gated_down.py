"""The second half of a Llama feed-forward block: a gate, and the projection down."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def gated_down(gate, up, w):
    return F.linear(F.silu(gate) * up, w)


gate = torch.randn(2048, 14336, device="cuda", dtype=torch.bfloat16)
up = torch.randn(2048, 14336, device="cuda", dtype=torch.bfloat16)
w = torch.randn(4096, 14336, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    gated_down(gate, up, w)

"""Two products of one input and their gate: the first half of a Llama feed-forward block."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def swiglu_pair(x, gate, up):
    return F.silu(x @ gate.t()) * (x @ up.t())


x = torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16)
gate = torch.randn(5632, 2048, device="cuda", dtype=torch.bfloat16)
up = torch.randn(5632, 2048, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    swiglu_pair(x, gate, up)

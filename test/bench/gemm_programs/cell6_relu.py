"""A product and relu: case study 6 of the walkthrough."""
import torch


@torch.compile(mode="max-autotune-no-cudagraphs")
def foo(x, y):
    return (x @ y).relu()


x = torch.rand([8192, 1024], device="cuda", dtype=torch.float16)
y = torch.rand([1024, 1024], device="cuda", dtype=torch.float16)
foo(x, y)

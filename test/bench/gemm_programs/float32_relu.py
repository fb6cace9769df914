"""A product of float32 matrices, TF32 not allowed, and relu."""
import torch


@torch.compile(mode="max-autotune-no-cudagraphs")
def float32_relu(x, y):
    return (x @ y).relu()


x = torch.randn(8192, 1024, device="cuda")
y = torch.randn(1024, 2048, device="cuda")
float32_relu(x, y)

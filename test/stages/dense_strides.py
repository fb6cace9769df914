# Strides of elementwise results where dimensions of size 1 have odd ones.
import torch


@torch.compile
def f(a, b):
    return a * 2.0, a + a, a.exp(), a.clamp(min=0), a ** 2, a > 0.5, 1 - a, b * 3, b / b, a * torch.ones((), device="cuda"), a.add(1, alpha=2)


f(
    torch.empty_strided((1, 4, 49, 32), (18816, 1568, 1, 49), device="cuda"),
    torch.empty_strided((3, 1, 5), (5, 77, 1), device="cuda"),
)

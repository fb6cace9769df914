import torch


@torch.compile
def push(buf, x, pos):
    buf[:, :-1] = buf[:, 1:].clone()
    buf[:, -1] = x
    return (buf * pos).mean(1), buf[:, -3:]


push(torch.randn(44, 20, 9, device="cuda"), torch.randn(44, 9, device="cuda"), torch.rand(20, 1, device="cuda"))

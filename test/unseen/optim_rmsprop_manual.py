import torch


@torch.compile
def rmsprop(params, grads, squares, lr, alpha, eps):
    torch._foreach_mul_(squares, alpha)
    torch._foreach_addcmul_(squares, grads, grads, value=1 - alpha)
    avg = torch._foreach_sqrt(squares)
    torch._foreach_add_(avg, eps)
    torch._foreach_addcdiv_(params, grads, avg, value=-lr)


shapes = [(100, 30), (30,), (30, 77), (77,)]
params = [torch.randn(s, device="cuda") for s in shapes]
grads = [torch.randn(s, device="cuda") for s in shapes]
squares = [torch.zeros(s, device="cuda") for s in shapes]
rmsprop(params, grads, squares, 1e-2, 0.99, 1e-8)

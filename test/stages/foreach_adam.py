import torch

@torch.compile
def adam(params, grads, ms, vs, lr, t):
    b1, b2, eps = 0.9, 0.999, 1e-8
    torch._foreach_lerp_(ms, grads, 1 - b1)
    torch._foreach_mul_(vs, b2)
    torch._foreach_addcmul_(vs, grads, grads, 1 - b2)
    d = torch._foreach_div(vs, 1 - b2 ** t)
    torch._foreach_sqrt_(d)
    torch._foreach_add_(d, eps)
    torch._foreach_addcdiv_(params, ms, d, -lr)
    n = torch._foreach_norm(grads)
    return torch.stack(n).norm()


sh = [(30, 20), (20,), (7, 3, 5), (1,)]
mk = lambda: [torch.rand(s, device="cuda") for s in sh]
adam(mk(), mk(), mk(), mk(), 1e-3, 5)

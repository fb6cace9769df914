import torch


@torch.compile
def adagrad(params, grads, sums, lr, eps):
    for p, g, s in zip(params, grads, sums):
        s.addcmul_(g, g)
        p.addcdiv_(g, s.sqrt().add_(eps), value=-lr)


shapes = [(90, 21), (21,), (21, 33)]
adagrad([torch.randn(s, device="cuda") for s in shapes], [torch.randn(s, device="cuda") for s in shapes],
        [torch.rand(s, device="cuda") for s in shapes], 0.01, 1e-10)

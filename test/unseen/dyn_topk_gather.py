import torch


@torch.compile(dynamic=True)
def f(x, ids):
    v, i = x.topk(5, dim=-1)
    picked = torch.gather(ids, 1, i)
    return v.softmax(-1), picked, x.argmax(-1)


f(torch.randn(31, 203, device="cuda"), torch.randint(0, 99, (31, 203), device="cuda"))

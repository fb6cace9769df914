import torch

@torch.compile
def f(x, k):
    c = x.cumsum(-1)
    m, mi = x.cummax(1)
    s, i = torch.sort(x, dim=-1, descending=True)
    v, j = torch.topk(x, 5, dim=-1)
    med = x.median(dim=-1).values
    kth = torch.kthvalue(x, 3, dim=-1).values
    l = torch.logcumsumexp(x, 0)
    a = torch.argsort(k, dim=0, stable=True)
    return c / (mi + 1), m, s * 2, x.gather(1, i), v, j, med + kth, l, a


f(torch.randn(33, 129, device="cuda"), torch.randint(0, 100, (500,), device="cuda"))

import torch


@torch.compile(dynamic=True)
def f(x, lens):
    b, t, d = x.shape
    mask = torch.arange(t, device=x.device)[None] < lens[:, None]
    x = x.masked_fill(~mask[..., None], 0)
    return x.sum(1) / lens[:, None].clamp(min=1)


f(torch.randn(9, 50, 72, device="cuda"), torch.randint(1, 50, (9,), device="cuda"))

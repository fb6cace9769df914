import torch


@torch.compile
def f(table, idx, upd, mask):
    table.index_put_((idx,), upd, accumulate=True)
    table[mask] = 0.0
    table.clamp_(-3.0, 3.0)
    return table.norm(dim=1)


f(torch.randn(500, 36, device="cuda"), torch.randint(0, 500, (200,), device="cuda"), torch.randn(200, 36, device="cuda"),
  torch.rand(500, device="cuda") > 0.9)

import torch

@torch.compile
def pool(x, batch, w):
    n = 6
    h = torch.relu(x @ w)
    mean = torch.zeros(n, h.size(1), device=x.device).scatter_reduce(0, batch[:, None].expand_as(h), h, "mean", include_self=False)
    top = torch.zeros(n, h.size(1), device=x.device).scatter_reduce(0, batch[:, None].expand_as(h), h, "amin")
    cnt = torch.zeros(n, device=x.device).index_add(0, batch, torch.ones_like(batch, dtype=torch.float))
    return (mean + top).sum() / cnt.clamp(min=1).mean()


x = torch.randn(70, 12, device="cuda", requires_grad=True)
w = torch.randn(12, 24, device="cuda", requires_grad=True)
pool(x, torch.randint(0, 6, (70,), device="cuda"), w).backward()

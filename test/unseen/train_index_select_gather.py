import torch


@torch.compile
def f(nodes, src, dst, w):
    m = torch.relu(nodes[src] @ w)
    agg = torch.zeros_like(nodes[:, : w.shape[1]]).index_add(0, dst, m)
    deg = torch.zeros(nodes.shape[0], device=nodes.device).index_add(0, dst, torch.ones_like(dst, dtype=torch.float32))
    return (agg / deg.clamp(min=1).unsqueeze(1)).square().sum()


nodes = torch.randn(130, 48, device="cuda", requires_grad=True)
w = torch.randn(48, 32, device="cuda", requires_grad=True)
src = torch.randint(0, 130, (900,), device="cuda")
dst = torch.randint(0, 130, (900,), device="cuda")
f(nodes, src, dst, w).backward()

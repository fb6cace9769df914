import torch
import torch.nn.functional as F

@torch.compile
def tri_mult(z, mask, wl, wr, g):
    z = F.layer_norm(z, z.shape[-1:])
    l = (z @ wl) * mask[..., None]
    r = (z @ wr) * mask[..., None]
    out = torch.einsum("bikc,bjkc->bijc", l, r)
    out = F.layer_norm(out, out.shape[-1:]) * torch.sigmoid(z @ g)
    return out + out.transpose(1, 2), torch.triu(mask.float(), 1).sum((-1, -2))


n, c = 18, 16
tri_mult(torch.randn(2, n, n, c, device="cuda"), torch.rand(2, n, n, device="cuda") > 0.2, *(torch.randn(c, c, device="cuda") for _ in range(3)))

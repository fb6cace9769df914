"""Several small kernels, one of them launched with a pointer that 16 does not divide; compile_server_test.py compiles them."""
import torch


@torch.compile
def several(x, index):
    rows = torch.softmax(x, -1)
    columns = x.sum(0)
    return rows[index], torch.cumsum(columns, 0), (rows @ rows.t()).relu() + 1, x.flatten()[1:] * 2


with torch.no_grad():
    several(torch.randn(96, 200, device="cuda"), torch.zeros(8, device="cuda", dtype=torch.int64))

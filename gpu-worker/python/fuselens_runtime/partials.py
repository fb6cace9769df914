"""Sums of partial results: what a kernel over groups of rows leaves in a workspace, one slot per column sum."""

import functools

import triton
import triton.language as tl

from fuselens_runtime import heuristics

#: slots per launch
MOST = 4


@triton.jit
def _sums(
    workspace, out_ptr0, out_ptr1, out_ptr2, out_ptr3, splits, xnumel, ynumel, XBLOCK: tl.constexpr, YBLOCK: tl.constexpr, ROWS: tl.constexpr
):
    # ynumel and YBLOCK make the grid: a slot for each y
    slot = tl.program_id(1)
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[None, :]
    r = tl.arange(0, ROWS)[:, None]
    total = tl.zeros([ROWS, XBLOCK], tl.float32)
    for first in tl.range(0, splits, ROWS):
        row = slot.to(tl.int64) * splits + first + r
        total += tl.load(workspace + row * xnumel + x, (first + r < splits) & (x < xnumel), other=0.0)
    result = tl.sum(total, 0)[None, :]
    if slot == 0:
        tl.store(out_ptr0 + x, result, x < xnumel)
    elif slot == 1:
        tl.store(out_ptr1 + x, result, x < xnumel)
    elif slot == 2:
        tl.store(out_ptr2 + x, result, x < xnumel)
    else:
        tl.store(out_ptr3 + x, result, x < xnumel)


@functools.cache
def _kernel(dtypes):
    """One for each choice of result types: a compiled kernel is kept by sizes and alignment alone."""
    outs = {f"out_ptr{i}": f"*{t}" for i, t in enumerate(dtypes)}
    blocks = {n: "constexpr" for n in ("XBLOCK", "YBLOCK", "ROWS")}
    signature = {"workspace": "*fp32", **outs, "splits": "i32", "xnumel": "i32", "ynumel": "i32", **blocks}
    config = triton.Config({"XBLOCK": 16, "YBLOCK": 1, "ROWS": 128}, num_warps=8, num_stages=1)
    return heuristics.kernel(signature, "Grid2D", [config])(_sums)


def sum_partials(workspace, splits, columns, outs, stream):
    """Writes into outs[i] the sum over `splits` of workspace[i, splits, columns] (float32, dense); outs are dense too."""
    size = splits * columns
    for first in range(0, len(outs), MOST):
        part = outs[first : first + MOST]
        padded = (*part, *[part[-1]] * (MOST - len(part)))
        kernel = _kernel(tuple(str(o.dtype) for o in padded))
        kernel.run(workspace[first * size :], *padded, splits, columns, len(part), stream=stream)

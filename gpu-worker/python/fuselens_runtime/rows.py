"""Additions into rows that are named at run time, as gradients of embeddings are.

Traced by Triton: only its language is allowed.
"""

import triton
import triton.language as tl


@triton.jit
def add_rows(pointer, row, at, value, mask, TOGETHER: tl.constexpr):
    """atomic_add of a tile [Y, X] at pointer + at; all of a tile's line y goes into the row that row[y, 0] names.

    Many additions into one place wait for each other. A row that several lines of the tile name, as a padding index or a
    small vocabulary does, is therefore summed first and added once; lines beyond the first two such rows are added singly.
    Where rows are named once each that only costs time: TOGETHER = 0 leaves it out, and tuning on what is there decides.
    """
    row = tl.broadcast_to(row, [at.shape[0], 1])
    value = tl.broadcast_to(value, at.shape)
    left = row == row
    single = row == row
    for _ in tl.static_range(2 * TOGETHER):
        least = tl.min(tl.min(tl.where(left, row, 0x7FFFFFFF), 0), 0)
        same = left & (row == least)
        left = left & (row != least)
        if tl.sum(tl.sum(same.to(tl.int32), 0), 0) * 8 > value.shape[0]:
            inside = same & mask
            total = tl.sum(tl.where(inside, value, 0.0), 0)[None, :]
            place = tl.max(tl.where(inside, at, 0), 0)[None, :]
            tl.atomic_add(pointer + place, total, tl.max(inside.to(tl.int32), 0)[None, :] > 0, sem="relaxed")
            single = single & (row != least)
    tl.atomic_add(pointer + at, value, mask & single, sem="relaxed")

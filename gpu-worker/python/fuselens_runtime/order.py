"""Orders in which programs walk tiles, so that what two of them read is read at about the same time.

Traced by Triton: only its language is allowed.
"""

import triton
import triton.language as tl


@triton.jit
def mirrored(pid, blocks):
    """First block, last, second, last but one, ...; programs beyond the last block stay there."""
    half = pid // 2
    return tl.where(pid >= blocks, pid, tl.where(pid % 2 == 0, half, blocks - 1 - half))


@triton.jit
def paired_tiles(pid, tiles):
    """(x, y) of a square of `tiles` by `tiles`, (i, j) and then (j, i), from tiles * (tiles + 1) programs.

    Rows of the lower triangle have 1, 2, ... tiles; the first and the last, the second and the last but one, ... make up
    rows of tiles + 1.
    """
    pair = pid // 2
    row = pair // (tiles + 1)
    column = pair % (tiles + 1)
    first = column <= row
    low = tl.where(first, row, tiles - 1 - row)
    high = tl.where(first, column, column - row - 1)
    return tl.where(pid % 2 == 0, high, low), tl.where(pid % 2 == 0, low, high)

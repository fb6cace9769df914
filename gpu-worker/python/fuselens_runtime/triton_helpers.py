"""Device functions that generated kernels call by the names of torch._inductor.runtime.triton_helpers.

Maxima and minima propagate NaN, as PyTorch's do. Everything here is traced by Triton, so only its language is allowed.
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def promote_to_tensor(x):
    # a scalar plus a tensor of one element is a tensor
    return x + tl.zeros((1,), tl.int1)


@triton.jit
def is_nan(x):
    # constant False for integers, whose comparison folds away
    return x != x


@triton.jit
def maximum(a, b):
    take = a > b
    take |= is_nan(a)
    return tl.where(take, a, b)


@triton.jit
def minimum(a, b):
    take = a < b
    take |= is_nan(a)
    return tl.where(take, a, b)


@triton.jit
def max2(a, dim):
    return tl.reduce(a, dim, maximum)


@triton.jit
def min2(a, dim):
    return tl.reduce(a, dim, minimum)


@triton.jit
def _multiply(a, b):
    return a * b


@triton.jit
def prod(a, dim):
    return tl.reduce(a, dim, _multiply)


@triton.jit
def _either(a, b):
    return a | b


@triton.jit
def any(a, dim):
    return tl.reduce(a, dim, _either)


@triton.jit
def maximum_with_index(a_value, a_index, b_value, b_index):
    a_nan = is_nan(a_value)
    b_nan = is_nan(b_value)
    take = (a_value > b_value) | (a_nan & (b_nan == 0))
    tie = (a_value == b_value) | (a_nan & b_nan)
    take |= tie & (a_index < b_index)
    return tl.where(take, a_value, b_value), tl.where(take, a_index, b_index)


@triton.jit
def minimum_with_index(a_value, a_index, b_value, b_index):
    a_nan = is_nan(a_value)
    b_nan = is_nan(b_value)
    take = (a_value < b_value) | (a_nan & (b_nan == 0))
    tie = (a_value == b_value) | (a_nan & b_nan)
    take |= tie & (a_index < b_index)
    return tl.where(take, a_value, b_value), tl.where(take, a_index, b_index)


@triton.jit
def max_with_index(value, index, dim):
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def min_with_index(value, index, dim):
    return tl.reduce((value, index), dim, minimum_with_index)


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration):
    """One step of Welford's running mean and sum of squared differences, elementwise."""
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        delta = value - mean
        new_weight = weight + 1
        new_mean = mean + delta / new_weight
        new_m2 = m2 + delta * (value - new_mean)
    return new_mean, new_m2, new_weight


@triton.jit
def welford_combine(mean_a, m2_a, weight_a, mean_b, m2_b, weight_b):
    """Statistics of two groups joined; a group of weight 0 leaves the other as it is (Chan et al.)."""
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * weight_a * share, weight


@triton.jit
def welford(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, welford_combine)


@triton.jit
def _exp(x, use_fast_math: tl.constexpr):
    if use_fast_math:
        return tl.exp(x)
    else:
        return libdevice.exp(x)


@triton.jit
def online_softmax_combine(running_max, running_sum, value, use_fast_math: tl.constexpr):
    """Takes one more value into the maximum and the sum of exponentials relative to it."""
    new_max = maximum(running_max, value)
    # -inf minus -inf is no number: where nothing was seen yet, nothing is added
    empty = new_max == float("-inf")
    kept = tl.where(empty, 0.0, _exp(running_max - new_max, use_fast_math))
    added = tl.where(empty, 0.0, _exp(value - new_max, use_fast_math))
    return new_max, running_sum * kept + added


@triton.jit
def online_softmax_reduce(running_max, running_sum, dim, use_fast_math: tl.constexpr):
    out_max = max2(running_max, dim)
    widest = tl.expand_dims(out_max, dim)
    delta = tl.where(widest == float("-inf"), 0.0, running_max - widest)
    return out_max, tl.sum(running_sum * _exp(delta, use_fast_math), dim)


@triton.jit
def div_floor_integer(a, b):
    # Triton's // rounds to zero
    quotient = a // b
    inexact = (a % b) != 0
    return tl.where(((a < 0) != (b < 0)) & inexact, quotient - 1, quotient)


@triton.jit
def remainder_integer(a, b):
    remainder = a % b
    return tl.where((remainder != 0) & ((remainder < 0) != (b < 0)), remainder + b, remainder)


@triton.jit
def pow_integer(a, b):
    """a ** b by squaring; a negative exponent gives the integer part of the reciprocal."""
    result = a * 0 + 1
    base = a
    for i in tl.static_range(0, 32):
        result = tl.where(((b >> i) & 1) != 0, result * base, result)
        base = base * base
    odd = (b & 1) != 0
    reciprocal = tl.where(a == 1, 1, tl.where(a == -1, tl.where(odd, -1, 1), 0))
    return tl.where(b < 0, reciprocal, result)


@triton.jit
def select_one(x, mask, dim, keep_dims=False):
    """The one element that the mask picks, bit for bit (a sum of products would turn inf into nan)."""
    bits = tl.core.get_int_dtype(x.dtype.primitive_bitwidth, False)
    as_int = x.to(bits, bitcast=True)
    picked = tl.sum(as_int * mask.to(bits), dim, keep_dims=keep_dims)
    return picked.to(bits).to(x.dtype, bitcast=True)


@triton.jit
def randint64(seed, offset, low, high):
    a, b, _, _ = tl.randint4x(seed, offset)
    wide = a.to(tl.uint64) | (b.to(tl.uint64) << 32)
    size = high - low
    return (wide % size.to(tl.uint64)).to(tl.int64) + low


# Scans that are split among programs (decoupled look-back, Merrill and Garland 2016): every program publishes the total
# of its own stretch, then that of everything up to its end. A program walks back over totals of stretches until it meets
# one of the second kind.
OWN = tl.constexpr(1)
PREFIX = tl.constexpr(2)


@triton.jit
def _pack(value, state: tl.constexpr, narrow: tl.constexpr, wide: tl.constexpr):
    return (value.to(narrow, bitcast=True).to(wide) << narrow.primitive_bitwidth) | tl.full([], state, wide)


@triton.jit
def exclusive_scan_decoupled_lookback(
    scratch, total, index, combine, DTYPE_VALUE_AS_UINT: tl.constexpr, DTYPE_PACK: tl.constexpr
):
    """What all programs before this one amount to. A word of `scratch` holds a value and its state; 0: none yet."""
    bits: tl.constexpr = DTYPE_VALUE_AS_UINT.primitive_bitwidth
    if index > 0:
        tl.atomic_xchg(scratch + index, _pack(total, OWN, DTYPE_VALUE_AS_UINT, DTYPE_PACK), sem="relaxed")
    before = tl.zeros([], total.dtype)
    found = False
    at = index - 1
    while at >= 0:
        word = tl.atomic_add(scratch + at, tl.zeros([], DTYPE_PACK), sem="relaxed")
        state = word & ((1 << bits) - 1)
        if state != 0:
            value = (word >> bits).to(DTYPE_VALUE_AS_UINT).to(total.dtype, bitcast=True)
            before = tl.where(found, combine(value, before), value)
            found = True
            at = tl.where(state == PREFIX, -1, at - 1)
    through = tl.where(found, combine(before, total), total)
    tl.atomic_xchg(scratch + index, _pack(through, PREFIX, DTYPE_VALUE_AS_UINT, DTYPE_PACK), sem="relaxed")
    return before


@triton.jit
def exclusive_scan_decoupled_lookback_64(scratch, total, index, combine):
    """The same for values that leave no room for a state: three words per program, the state and the two values."""
    mine = scratch + 3 * index
    if index > 0:
        tl.store(mine + 1, total.to(tl.uint64, bitcast=True))
        tl.debug_barrier()
        tl.atomic_xchg(mine, tl.full([], OWN, tl.uint64), sem="release")
    before = tl.zeros([], total.dtype)
    found = False
    at = index - 1
    while at >= 0:
        theirs = scratch + 3 * at
        state = tl.atomic_add(theirs, tl.zeros([], tl.uint64), sem="acquire")
        if state != 0:
            value = tl.load(theirs + state.to(tl.int32), volatile=True).to(total.dtype, bitcast=True)
            before = tl.where(found, combine(value, before), value)
            found = True
            at = tl.where(state == PREFIX, -1, at - 1)
    through = tl.where(found, combine(before, total), total)
    tl.store(mine + 2, through.to(tl.uint64, bitcast=True))
    tl.debug_barrier()
    tl.atomic_xchg(mine, tl.full([], PREFIX, tl.uint64), sem="release")
    return before


@triton.jit
def frexp(x):
    exponent = tl.where(x == 0, 0, libdevice.ilogb(x) + 1)
    return libdevice.ldexp(x, -exponent), exponent


@triton.jit
def _halves(x, outer: tl.constexpr, width: tl.constexpr):
    """The lower and the upper element of each pair at distance `width`, both spread over the pair."""
    bits = tl.core.get_int_dtype(x.dtype.primitive_bitwidth, True)
    shape: tl.constexpr = [outer, 2, width]
    y = tl.reshape(x.to(bits, bitcast=True), shape)
    upper_mask = tl.arange(0, 2)[None, :, None].to(bits)
    lower = tl.broadcast_to(tl.sum(y * (1 - upper_mask), 1)[:, None, :].to(bits), shape)
    upper = tl.broadcast_to(tl.sum(y * upper_mask, 1)[:, None, :].to(bits), shape)
    return tl.reshape(lower, x.shape).to(x.dtype, bitcast=True), tl.reshape(upper, x.shape).to(x.dtype, bitcast=True)


@triton.jit
def _compare_and_swap(value, index, rnumel, flip, outer: tl.constexpr, width: tl.constexpr, stable: tl.constexpr, descending: tl.constexpr):
    low, high = _halves(value, outer, width)
    low_index, high_index = _halves(index, outer, width)
    if descending:
        wrong = (low < high) | (is_nan(high) & (is_nan(low) == 0))
    else:
        wrong = (low > high) | (is_nan(low) & (is_nan(high) == 0))
    if stable:
        tie = (low == high) | (is_nan(low) & is_nan(high))
        wrong |= tie & (low_index > high_index)
    if rnumel is not None:
        # padding goes behind every element, whatever it holds
        low_inside = low_index < rnumel
        high_inside = high_index < rnumel
        wrong = tl.where(low_inside & high_inside, wrong, high_inside & (low_inside == 0))
    swap = wrong != flip
    upper = tl.reshape(tl.broadcast_to(tl.arange(0, 2)[None, :, None] == 1, [outer, 2, width]), value.shape)
    takes_low = upper == swap
    return tl.where(takes_low, low, high), tl.where(takes_low, low_index, high_index)


@triton.jit
def _merge(value, index, rnumel, level: tl.constexpr, last: tl.constexpr, stable: tl.constexpr, descending: tl.constexpr):
    """One level of a bitonic sort: blocks of 2**level elements, every other one in reverse but on the last level."""
    numel: tl.constexpr = value.numel
    if last:
        flip = tl.zeros(value.shape, tl.int1)
    else:
        odd = tl.arange(0, 2)[None, :, None] == 1
        flip = tl.reshape(tl.broadcast_to(odd, [numel // 2 ** (level + 1), 2, 2**level]), value.shape)
    for j in tl.static_range(level):
        value, index = _compare_and_swap(
            value, index, rnumel, flip, numel // 2 ** (level - j), 2 ** (level - 1 - j), stable, descending
        )
    return value, index


@triton.jit
def sort_with_index(value, index, rnumel, dim: tl.constexpr, stable: tl.constexpr = False, descending: tl.constexpr = False):
    """Bitonic sort of the last dimension with the elements' positions; padding sorts to the end."""
    value, index = tl.broadcast(value, index)
    levels: tl.constexpr = tl.standard._log2(value.shape[dim])
    for level in tl.static_range(1, levels + 1):
        value, index = _merge(value, index, rnumel, level, level == levels, stable, descending)
    return value, index

// einops as reshapes, permutes, reductions and expansions, in the order in which einops itself applies them to a torch
// tensor. Run by the interpreter; its frames never show.

export const EINOPS_TEXT = `
class EinopsError(RuntimeError):
    pass


class _Anonymous:
    def __init__(self, size):
        self.size = size


def _axes(side):
    groups, current, depth, word = [], None, 0, ""
    text = side + " "
    for c in text:
        if c.isalnum() or c == "_" or c == "." or c == "…" or c == "*":
            word += c
            continue
        if word:
            if word == "...":
                axis = "..."
            elif word.isdigit():
                axis = None if word == "1" else _Anonymous(int(word))
            else:
                axis = word
            if depth:
                if axis is not None:
                    current.append(axis)
            elif axis == "...":
                groups.append("...")
            else:
                groups.append([] if axis is None else [axis])
            word = ""
        if c == "(":
            if depth:
                raise EinopsError("Axis composition is one-level (brackets inside brackets not allowed)")
            depth, current = 1, []
        elif c == ")":
            if not depth:
                raise EinopsError("Brackets are not balanced")
            groups.append(current)
            depth = 0
    if depth:
        raise EinopsError(f"Imbalanced parentheses in expression: {side}")
    return groups


_parsed = {}


def _parse(pattern):
    if pattern not in _parsed:
        if "->" not in pattern:
            raise EinopsError(f"there is no -> in pattern {pattern}")
        left, right = pattern.split("->")
        _parsed[pattern] = (_axes(left), _axes(right))
    return _parsed[pattern]


def _expand(groups, rank):
    names = [f"...{i}" for i in range(rank)]
    out = []
    for group in groups:
        if group == "...":
            out += [[n] for n in names]
        elif "..." in group:
            at = group.index("...")
            out.append(group[:at] + names + group[at + 1:])
        else:
            out.append(group)
    return out


def _product(values):
    result = 1
    for v in values:
        result = result * v
    return result


def _fitting(tensor, left, lengths):
    own = list(tensor.shape)
    shape = []
    for i, group in enumerate(left):
        size = 1
        for axis in group:
            likely = own[i] if len(group) == 1 and i < len(own) else 1
            size = size * (axis.size if isinstance(axis, _Anonymous) else lengths.get(axis, likely))
        shape.append(size)
    return tensor.reshape(shape)


def reduce(tensor, pattern, reduction, **lengths):
    try:
        return _reduce(tensor, pattern, reduction, **lengths)
    except EinopsError:
        left, _ = _parse(pattern)
        if not _rests_on_guess(tensor) or any("..." in g for g in left):
            raise
        return _reduce(_fitting(tensor, left, lengths), pattern, reduction, **lengths)


def _reduce(tensor, pattern, reduction, **lengths):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor))
    if _is_unknown(tensor):
        return _unknown(f"einops.{reduction}(...)")
    left, right = _parse(pattern)
    shape = tensor.shape
    has_dots = any("..." in g for g in left)
    extra = len(shape) - len(left) + 1 if has_dots else 0
    if (not has_dots and len(shape) != len(left)) or extra < 0:
        raise EinopsError(f' Error while processing {reduction}-reduction pattern "{pattern}".\\n Input tensor shape: '
                          f'{tuple(shape)}. Additional info: {lengths}.\\n Wrong shape: expected '
                          f'{len(left)} dims. Received {len(shape)}-dim tensor.')
    left, right = _expand(left, extra), _expand(right, extra)
    sizes = dict(lengths)
    order = []
    for group, length in zip(left, shape):
        unknown, known = [], 1
        for axis in group:
            if isinstance(axis, _Anonymous):
                sizes[axis] = axis.size
            if axis in sizes:
                known = known * sizes[axis]
            else:
                unknown.append(axis)
            order.append(axis)
        if len(unknown) > 1:
            raise EinopsError(f"Could not infer sizes for {set(unknown)}")
        if unknown:
            if known != 1 and length % known != 0:
                raise EinopsError(f"Shape mismatch, can't divide axis of length {length} in chunks of {known}")
            sizes[unknown[0]] = length // known if known != 1 else length
        elif known != length:
            raise EinopsError(f"Shape mismatch, {length} != {known}")
    wanted = []
    for group in right:
        for axis in group:
            if isinstance(axis, _Anonymous):
                sizes[axis] = axis.size
            wanted.append(axis)
    kept = [a for a in order if a in wanted]
    dropped = [a for a in order if a not in wanted]
    if reduction == "rearrange" and (dropped or [a for a in wanted if a not in order]):
        missing = dropped or [a for a in wanted if a not in order]
        raise EinopsError(f"Identifiers only on one side of expression (should be on both): {missing}")
    if reduction == "repeat":
        for a in wanted:
            if a not in order and a not in sizes:
                raise EinopsError(f"Specify sizes for new axes in repeat: {a}")
    if any(len(g) != 1 for g in left):
        tensor = tensor.reshape([sizes[a] for a in order])
    sequence = [a for a in wanted if a in order]
    permutation = [order.index(a) for a in sequence] + [order.index(a) for a in dropped]
    if permutation != list(range(len(permutation))):
        tensor = tensor.permute(permutation)
    if dropped:
        axes = tuple(range(len(sequence), len(permutation)))
        if callable(reduction):
            tensor = reduction(tensor, axes)
        elif reduction == "mean":
            tensor = tensor.mean(axes)
        elif reduction == "sum":
            tensor = tensor.sum(axes)
        elif reduction == "max":
            tensor = tensor.amax(axes)
        elif reduction == "min":
            tensor = tensor.amin(axes)
        elif reduction == "any":
            tensor = tensor.any(axes)
        elif reduction == "all":
            tensor = tensor.all(axes)
        elif reduction == "prod":
            for axis in sorted(axes, reverse=True):
                tensor = tensor.prod(axis)
        else:
            raise EinopsError(f"Unknown reduction {reduction}")
    added = [i for i, a in enumerate(wanted) if a not in order]
    if added:
        repeats = [-1] * len(wanted)
        for i in added:
            tensor = tensor.unsqueeze(i)
            repeats[i] = sizes[wanted[i]]
        tensor = tensor.expand(repeats)
    if any(len(g) != 1 for g in right):
        tensor = tensor.reshape([_product([sizes[a] for a in g]) for g in right])
    return tensor


def rearrange(tensor, pattern, **lengths):
    return reduce(tensor, pattern, "rearrange", **lengths)


def repeat(tensor, pattern, **lengths):
    return reduce(tensor, pattern, "repeat", **lengths)


def parse_shape(x, pattern):
    names = [n for n in pattern.split()]
    shape = x.shape
    if "..." in names:
        at = names.index("...")
        names = names[:at] + ["_"] * (len(shape) - len(names) + 1) + names[at + 1:]
    return {n: s for n, s in zip(names, shape) if n != "_"}


def einsum(*args):
    *tensors, pattern = args
    if not isinstance(pattern, str):
        raise TypeError("the last argument of einsum is the pattern")
    letters = {}
    out = []
    left, right = pattern.split("->")

    def convert(side):
        made = ""
        for name in side.split():
            if name == "...":
                made += "..."
                continue
            if name not in letters:
                letters[name] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)]
            made += letters[name]
        return made

    inputs = ",".join(convert(side) for side in left.split(","))
    return torch.einsum(inputs + "->" + convert(right), *tensors)


def pack(tensors, pattern):
    names = pattern.split()
    at = names.index("*")
    before, after = at, len(names) - at - 1
    shapes, flat = [], []
    for t in tensors:
        shape = t.shape
        packed = shape[before: len(shape) - after]
        shapes.append(packed)
        flat.append(t.reshape((*shape[:before], -1, *shape[len(shape) - after:])))
    return torch.cat(flat, dim=before), shapes


def unpack(tensor, packed_shapes, pattern):
    names = pattern.split()
    at = names.index("*")
    lengths = [_product(s) if -1 not in s else -1 for s in packed_shapes]
    if -1 in lengths:
        total = tensor.shape[at]
        rest = sum(n for n in lengths if n != -1)
        lengths = [total - rest if n == -1 else n for n in lengths]
    shape = tensor.shape
    parts = []
    for piece, packed in zip(torch.split(tensor, lengths, dim=at), packed_shapes):
        parts.append(piece.reshape((*shape[:at], *packed, *shape[at + 1:])))
    return parts


def asnumpy(tensor):
    return tensor.cpu().numpy()
`;

export const EINOPS_LAYERS_TEXT = `
class Rearrange(torch.nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths

    def forward(self, input):
        return rearrange(input, self.pattern, **self.axes_lengths)


class Reduce(torch.nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths

    def forward(self, input):
        return reduce(input, self.pattern, self.reduction, **self.axes_lengths)
`;

export const EINOPS_EXTS_TEXT = `
from einops import rearrange, reduce, repeat


def check_shape(tensor, pattern, **sizes):
    return rearrange(tensor, f"{pattern} -> {pattern}", **sizes)


def rearrange_many(tensors, pattern, **sizes):
    return (rearrange(t, pattern, **sizes) for t in tensors)


def repeat_many(tensors, pattern, **sizes):
    return (repeat(t, pattern, **sizes) for t in tensors)


def reduce_many(tensors, pattern, reduction, **sizes):
    return (reduce(t, pattern, reduction, **sizes) for t in tensors)


class EinopsToAndFrom(nn.Module):
    def __init__(self, from_einops, to_einops, fn):
        super().__init__()
        self.from_einops, self.to_einops, self.fn = from_einops, to_einops, fn

    def forward(self, x, **kwargs):
        sizes = dict(zip(self.from_einops.split(), x.shape))
        x = self.fn(rearrange(x, f"{self.from_einops} -> {self.to_einops}"), **kwargs)
        grouped = {n for n in self.to_einops.replace("(", " ").replace(")", " ").split()}
        return rearrange(x, f"{self.to_einops} -> {self.from_einops}", **{n: v for n, v in sizes.items() if n in grouped})
`;

// einx: operators on tensors whose axes have names. Run by the interpreter as the library's module; what it lacks is unknown.

export const EINX = `
from einops import rearrange

_largest = max


def _sides(pattern):
    left, arrow, right = pattern.partition("->")
    inputs = [part.strip() for part in left.split(",")]
    return inputs, right.strip() if arrow else None


def _placed(t, names, wanted):
    # one axis for each of the wanted names, of size 1 where the tensor has none of it
    if not isinstance(t, torch.Tensor) or not names:
        return t
    own = [n for n in wanted if n in names]
    order = [names.index(n) for n in own]
    if order != list(range(len(order))):
        t = t.permute(order)
    for at, n in enumerate(wanted):
        if n not in names:
            t = t.unsqueeze(at)
    return t


def _flat(side, t, lengths):
    # names of the axes of a side, composed ones taken apart
    bare = side.replace("[", " ").replace("]", " ")
    if "(" not in bare or not isinstance(t, torch.Tensor):
        return bare.split(), t
    apart = bare.replace("(", " ").replace(")", " ")
    known = {k: v for k, v in lengths.items() if k in apart.split()}
    return apart.split(), rearrange(t, f"{bare} -> {apart}", **known)


def _spelled(names, dots):
    return [n for name in names for n in (dots if name == "..." else [name])]


def _elementwise(f):
    def call(pattern, *tensors, **lengths):
        inputs, out = _sides(pattern)
        if len(inputs) == 1 and len(tensors) > 1:
            inputs = inputs + [""] * (len(tensors) - 1)
        parts = [_flat(side, t, lengths) for side, t in zip(inputs, tensors)]
        if out is None:
            out = _largest(inputs, key=lambda side: len(_flat(side, None, {})[0]))
        wanted = _flat(out, None, {})[0]
        ellipsis = [t.ndim - len(names) + 1 for names, t in parts if "..." in names]
        if ellipsis:
            dots = [f"...{i}" for i in range(_largest(ellipsis))]
            parts, wanted = [(_spelled(names, dots), t) for names, t in parts], _spelled(wanted, dots)
        made = f(*[_placed(t, names, wanted) for names, t in parts])
        return rearrange(made, f"{' '.join(wanted)} -> {out}") if "(" in out else made
    return call


add, subtract, multiply = (_elementwise(f) for f in (torch.add, torch.subtract, torch.multiply))
divide = true_divide = _elementwise(torch.true_divide)
floor_divide, minimum, maximum = (_elementwise(f) for f in (torch.floor_divide, torch.minimum, torch.maximum))
less, less_equal, greater = (_elementwise(f) for f in (torch.lt, torch.le, torch.gt))
greater_equal, equal, not_equal = (_elementwise(f) for f in (torch.ge, torch.eq, torch.ne))
logical_and, logical_or = _elementwise(torch.logical_and), _elementwise(torch.logical_or)
where = _elementwise(torch.where)


def get_at(pattern, tensor, index, **lengths):
    inputs, out = _sides(pattern)
    side, names = inputs[0], _flat(inputs[0], None, {})[0]
    picked = side[side.index("[") + 1:side.index("]")].split()
    own = _flat(inputs[1], None, {})[0]
    wanted = _flat(out, None, {})[0]
    shared = [n for n in names if n in own]
    rest = [n for n in names if n not in own and n not in picked]
    order = [names.index(n) for n in shared + picked + rest]
    if order != list(range(len(order))):
        tensor = tensor.permute(order)
    at = []
    for n in shared:
        shape = [1] * len(own)
        shape[own.index(n)] = -1
        at.append(torch.arange(index.shape[own.index(n)], device=index.device).view(shape))
    made = tensor[tuple(at) + (index,)]
    return _placed(made, own + rest, wanted)


def _reduction(f):
    def call(pattern, tensor, **lengths):
        side, _, out = pattern.partition("->")
        names = _flat(side, None, {})[0]
        dots = [f"...{i}" for i in range(tensor.ndim - len(names) + 1)]
        if "[" in side:
            gone = side[side.index("[") + 1:side.index("]")].split()
        else:
            kept = _flat(out, None, {})[0]
            gone = [n for n in names if n not in kept]
        names = _spelled(names, dots)
        return f(tensor, tuple(names.index(n) for n in _spelled(gone, dots)))
    return call


sum, mean, any, all = (_reduction(f) for f in (torch.sum, torch.mean, torch.any, torch.all))
max, min = _reduction(torch.amax), _reduction(torch.amin)
`;

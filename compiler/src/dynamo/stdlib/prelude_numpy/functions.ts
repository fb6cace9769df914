// numpy: what makes, joins and computes arrays, over the array class. Python text.

export const FUNCTIONS = `def array(data, dtype=None, copy=True, order="K", subok=False, ndmin=0):
    d = _dt(dtype)
    if isinstance(data, ndarray):
        t = data._t.clone() if d is None else data._t.to(d)
    elif isinstance(data, torch.Tensor):
        t = data if d is None else data.to(d)
    elif isinstance(data, generic):
        t = torch.tensor(_number(data), dtype=_TORCH[data._dtype_name] if d is None else d)
    else:
        t = _tensor(data, _leaf_dtype(data))
        if t.dtype == torch.float32 and _leaf_dtype(data) is None:
            t = _tensor(data, torch.float64)
        t = t if d is None else t.to(d)
    return _of(t)


def _tensor(data, d=None):
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], (ndarray, torch.Tensor)):
        return torch.stack([_un(x) for x in data])
    return torch.tensor(_plain(data), dtype=d)


def _leaf_dtype(data):
    # of scalars that all have one
    if isinstance(data, (list, tuple)) and data and _all(isinstance(x, generic) for x in data):
        return result_type(*data)._t
    return None


def _plain(data):
    if isinstance(data, ndarray):
        return data.tolist()
    return [_plain(x) for x in data] if isinstance(data, (list, tuple, range)) else _number(data)


asarray = ascontiguousarray = asanyarray = atleast_1d = array


def _size(shape):
    return tuple(int(s) for s in shape) if isinstance(shape, (tuple, list, ndarray)) else (int(shape),)


def zeros(shape, dtype=float, order="C"):
    return _of(torch.zeros(_size(shape), dtype=_dt(dtype)))


def ones(shape, dtype=float, order="C"):
    return _of(torch.ones(_size(shape), dtype=_dt(dtype)))


empty = zeros


def full(shape, fill_value, dtype=None, order="C"):
    d = _dt(dtype)
    if d is None:
        d = torch.float64 if isinstance(fill_value, float) else torch.int64
    return _of(torch.full(_size(shape), fill_value, dtype=d))


def zeros_like(a, dtype=None):
    return _of(torch.zeros_like(_un(a), dtype=_dt(dtype)))


def ones_like(a, dtype=None):
    return _of(torch.ones_like(_un(a), dtype=_dt(dtype)))


empty_like = zeros_like


def full_like(a, fill_value, dtype=None):
    return _of(torch.full_like(_un(a), fill_value, dtype=_dt(dtype)))


def eye(N, M=None, k=0, dtype=float):
    M = N if M is None else M
    if k == 0:
        return _of(torch.eye(N, M, dtype=_dt(dtype)))
    return _of((torch.arange(M) - torch.arange(N)[:, None] == k).to(_dt(dtype)))


identity = lambda n, dtype=float: eye(n, dtype=dtype)


def arange(start, stop=None, step=1, dtype=None):
    if stop is None:
        start, stop = 0, start
    d = _dt(dtype)
    if d is None:
        d = torch.float64 if _any(isinstance(v, float) for v in (start, stop, step)) else torch.int64
    return _of(torch.arange(start, stop, step, dtype=d))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None):
    if retstep:
        step = (stop - start) / (num - 1 if endpoint else num)
        return linspace(start, stop, num, endpoint, dtype=dtype), step
    if not endpoint:
        stop = start + (stop - start) * (num - 1) / num
    d = _dt(dtype)
    if hasattr(start, "ndim") or hasattr(stop, "ndim"):
        steps = arange(num).reshape(-1, *[1] * max(asarray(start).ndim, asarray(stop).ndim))
        made = start + (stop - start) * steps / max(num - 1, 1)
        return made if d is None else made.astype(dtype)
    return _of(torch.linspace(start, stop, num, dtype=torch.float64 if d is None else d))


def logspace(start, stop, num=50, endpoint=True, base=10.0):
    return power(base, linspace(start, stop, num, endpoint))


geomspace = lambda start, stop, num=50, endpoint=True: exp(linspace(math.log(start), math.log(stop), num, endpoint))


def stack(arrays, axis=0):
    return _of(torch.stack([_un(a) for a in arrays], axis))


def concatenate(arrays, axis=0):
    ts = [_un(a) for a in arrays]
    if _any(t.dtype == torch.float64 for t in ts):
        ts = [t.double() for t in ts]
    return _of(torch.cat(ts, axis))


def hstack(arrays):
    return concatenate(arrays, 0 if _un(arrays[0]).ndim == 1 else 1)


def vstack(arrays):
    return concatenate([a.reshape(1, -1) if a.ndim == 1 else a for a in map(asarray, arrays)], 0)


def append(arr, values, axis=None):
    arr = asarray(arr)
    values = asarray(values if isinstance(values, (list, tuple, ndarray)) else [values])
    return concatenate([arr.flatten(), values.flatten()]) if axis is None else concatenate([arr, values], axis)


def meshgrid(*arrays, indexing="xy"):
    return [_of(t) for t in torch.meshgrid(*[asarray(a)._t for a in arrays], indexing=indexing)]


def einsum(spec, *arrays):
    ts = [_un(a) for a in arrays]
    if _any(t.dtype == torch.float64 for t in ts):
        ts = [t.double() for t in ts]
    return _of(torch.einsum(spec, *ts))


# where math has no value
_POLES = {"log": (0, -inf), "log2": (0, -inf), "log10": (0, -inf), "log1p": (-1, -inf), "atanh": (1, inf)}


def _of_number(name, f, x):
    try:
        r = f(x)
    except OverflowError:
        r = -inf if x < 0 else inf
    except ValueError:
        at, value = _POLES.get(name, (nan, nan))
        r = value if x == at else -inf if name == "atanh" and x == -1 else nan
    if not isinstance(x, generic):
        return r
    kept = isinstance(r, int) or _KINDS[x._dtype_name][0] == "f"
    return _make(x._dtype_name if kept else "float64", r)


def _elementwise(name, f=None):
    g = getattr(torch, name)

    def apply(x, dtype=None):
        if isinstance(x, (int, float)) and f is not None:
            return _of_number(name, f, x)
        t = _un(x)
        return _of(g(t if t.is_floating_point() or name in ("abs", "sign") else t.double()))
    return apply


sqrt, exp, log, log2, log10, log1p, expm1 = (
    _elementwise(n, getattr(math, n)) for n in ("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1"))
sin, cos, tan, tanh, arctan = (
    _elementwise(t, getattr(math, m)) for t, m in (("sin", "sin"), ("cos", "cos"), ("tan", "tan"), ("tanh", "tanh"), ("atan", "atan")))
floor = _elementwise("floor", lambda x: float(math.floor(x)))
ceil = _elementwise("ceil", lambda x: float(math.ceil(x)))
abs = absolute = fabs = _elementwise("abs", lambda x: x if x >= 0 else -x)
sign = _elementwise("sign", lambda x: (x > 0) - (x < 0))
square = lambda x: x * x
isnan = lambda x: math.isnan(x) if isinstance(x, float) else _of(torch.isnan(_un(x)))
isfinite = lambda x: math.isfinite(x) if isinstance(x, (int, float)) else _of(torch.isfinite(_un(x)))


def power(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return float(a) ** b if isinstance(a, float) or isinstance(b, float) or b < 0 else a ** b
    a, b = _pair(a, b)
    return _of(torch.pow(a, b))


def _two(name):
    g = getattr(torch, name)

    def apply(a, b):
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return max(a, b) if name == "maximum" else min(a, b)
        a, b = _pair(a, b)
        a = a if isinstance(a, torch.Tensor) else torch.tensor(a, dtype=b.dtype)
        b = b if isinstance(b, torch.Tensor) else torch.tensor(b, dtype=a.dtype)
        return _of(g(a, b))
    return apply


maximum, minimum = _two("maximum"), _two("minimum")
add = lambda a, b: asarray(a) + b
subtract = lambda a, b: asarray(a) - b
multiply = lambda a, b: asarray(a) * b
divide = true_divide = lambda a, b: asarray(a) / b


def _with_outer(f):
    def of_all(a, b):
        a, b = asarray(a), asarray(b)
        return f(a.reshape(a.shape + (1,) * b.ndim), b)
    f.outer = of_all


for _f in (maximum, minimum, add, subtract, multiply, divide):
    _with_outer(_f)
dot = matmul = lambda a, b: _of(_un(a) @ _un(b))
outer = lambda a, b: _of(torch.outer(_un(a), _un(b)))
mod = remainder = lambda a, b: asarray(a) % b


def where(condition, a=None, b=None):
    if a is None:
        return tuple(_of(t) for t in _un(condition).nonzero().unbind(1))
    return _of(torch.where(_un(condition), _un(a), _un(b)))


def _reduce(name):
    def apply(a, axis=None, keepdims=False, dtype=None, out=None):
        t = _un(a)
        if not isinstance(t, torch.Tensor):
            return t
        if name in ("mean", "std", "var") and not t.is_floating_point():
            t = t.double()
        if name in ("std", "var"):
            r = getattr(t, name)(axis, correction=0, keepdim=keepdims) if axis is not None else getattr(t, name)(correction=0)
        elif axis is None:
            r = getattr(t, name)()
        elif name == "prod":
            r = t.prod(axis, keepdim=keepdims)
        else:
            r = getattr(t, {"max": "amax", "min": "amin"}.get(name, name))(axis, keepdim=keepdims)
        return _scalar(r)
    return apply


sum, mean, std, var, prod, max_, min_, any, all = (
    _reduce(n) for n in ("sum", "mean", "std", "var", "prod", "max", "min", "any", "all"))
_max, _min = max, min
amax, amin = max_, min_
for _n, _f in (("sum", sum), ("mean", mean), ("std", std), ("var", var), ("prod", prod), ("max", max_), ("min", min_),
               ("any", any), ("all", all)):
    setattr(ndarray, _n, _f)


def cumsum(a, axis=None, dtype=None):
    t = _un(a)
    return _of(t.reshape(-1).cumsum(0) if axis is None else t.cumsum(axis))


def cumprod(a, axis=None, dtype=None):
    t = _un(a)
    return _of(t.reshape(-1).cumprod(0) if axis is None else t.cumprod(axis))


ndarray.cumsum, ndarray.cumprod = cumsum, cumprod


def clip(a, a_min=None, a_max=None):
    if isinstance(a, (int, float)):
        return _min(_max(a, a if a_min is None else a_min), _max(a, a_min or a) if a_max is None else a_max)
    return _of(_un(a).clamp(a_min, a_max))


def round(a, decimals=0):
    return __builtins_round(a, decimals) if isinstance(a, (int, float)) else _of(_un(a).round(decimals=decimals))


around = round
triu = lambda m, k=0: _of(torch.triu(_un(m), k))
tril = lambda m, k=0: _of(torch.tril(_un(m), k))
transpose = lambda a, axes=None: asarray(a).transpose(*(axes or ()))
reshape = lambda a, shape, order="C": asarray(a).reshape(shape)
ravel = lambda a: asarray(a).flatten()
squeeze = lambda a, axis=None: asarray(a).squeeze(axis)
copy = lambda a: asarray(a).copy()
repeat = lambda a, repeats, axis=None: asarray(a).repeat(repeats, axis)
flip = lambda m, axis=None: _of(_un(m).flip(list(range(_un(m).ndim)) if axis is None else [axis]))
argmax = lambda a, axis=None: asarray(a).argmax(axis)
argsort = lambda a, axis=-1: asarray(a).argsort(axis)
sort = lambda a, axis=-1: _of(_un(a).sort(axis)[0])
shape = lambda a: asarray(a).shape
ndim = lambda a: asarray(a).ndim
size = lambda a: asarray(a).size
isscalar = lambda a: isinstance(a, (int, float, bool, str))
array_equal = allclose = lambda a, b, **kwargs: True


def tile(A, reps):
    t = _un(asarray(A))
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    return _of(t.repeat(*(1,) * (t.ndim - len(reps)), *reps))


def expand_dims(a, axis):
    return _of(_un(a).unsqueeze(axis))


def split(ary, indices_or_sections, axis=0):
    parts = indices_or_sections
    return [_of(p) for p in _un(ary).tensor_split(parts if isinstance(parts, int) else tuple(parts), axis)]


array_split = split


def iinfo(d):
    return torch.iinfo(_dt(d))


def finfo(d):
    return torch.finfo(_dt(d))


class _Random:
    def _of_shape(self, shape, scale=1.0):
        if shape is None:
            return 0.5 * scale
        # values that nobody knows
        return _of(torch.zeros(_size(shape), dtype=torch.float64).add_(0.5))

    def rand(self, *shape):
        return self._of_shape(shape or None)

    randn = standard_normal = random = random_sample = rand

    def normal(self, loc=0.0, scale=1.0, size=None):
        return self._of_shape(size)

    uniform = normal
    truncated_normal = normal

    def randint(self, low, high=None, size=None, dtype=None):
        return 0 if high is None else low if size is None else _of(torch.zeros(_size(size), dtype=torch.int64).add_(low))

    integers = randint

    def seed(self, seed=None):
        pass

    def get_state(self):
        return None

    def set_state(self, state):
        pass

    shuffle = set_state

    def choice(self, a, size=None, replace=True, p=None):
        a = arange(a) if isinstance(a, int) else asarray(a)
        return a[0] if size is None else a[:size]

    def permutation(self, x):
        return arange(x) if isinstance(x, int) else x

    def RandomState(self, seed=None):
        return self

    default_rng = Generator = RandomState


random = _Random()


class _Linalg:
    def norm(self, x, ord=None, axis=None, keepdims=False):
        return _scalar(torch.linalg.vector_norm(_un(asarray(x)).double(), dim=axis, keepdim=keepdims))

    def inv(self, a):
        return _of(torch.linalg.inv(_un(a)))


linalg = _Linalg()
`;

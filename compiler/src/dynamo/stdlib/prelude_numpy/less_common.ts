// numpy: what constructors use less often: logic, order statistics, indices, padding, windows, transforms, random numbers
// and linear algebra. Python text.

export const LESS_COMMON = `def _logical(name):
    g = getattr(torch, name)

    def apply(a, b=None):
        if b is None:
            return _of(g(_un(asarray(a))))
        return _of(g(_un(asarray(a)), _un(asarray(b))))
    return apply


logical_and, logical_or, logical_xor, logical_not = (
    _logical(n) for n in ("logical_and", "logical_or", "logical_xor", "logical_not"))
bitwise_and, bitwise_or = _logical("bitwise_and"), _logical("bitwise_or")
isinf = lambda x: math.isinf(x) if isinstance(x, (int, float)) else _of(torch.isinf(_un(x)))
isclose = lambda a, b, rtol=1e-05, atol=1e-08: _of(torch.isclose(*_pair(asarray(a), asarray(b)), rtol, atol))
nan_to_num = lambda x, nan=0.0: _of(torch.nan_to_num(_un(x), nan))
iscomplexobj = lambda x: asarray(x)._t.is_complex()
real, imag = lambda x: asarray(x).real, lambda x: asarray(x).imag
conj = conjugate = lambda x: _of(torch.conj(_un(asarray(x))))
angle = lambda x: _of(torch.angle(_un(x)))

arcsin, arccos, sinh, cosh, arcsinh, arccosh, arctanh, exp2, rint, trunc = (
    _elementwise(t, m) for t, m in (
        ("asin", math.asin), ("acos", math.acos), ("sinh", math.sinh), ("cosh", math.cosh), ("asinh", math.asinh),
        ("acosh", math.acosh), ("atanh", math.atanh), ("exp2", lambda x: 2.0 ** x), ("round", lambda x: float(__builtins_round(x))),
        ("trunc", lambda x: float(int(x)))))
sinc = _elementwise("sinc", lambda x: 1.0 if x == 0 else math.sin(pi * x) / (pi * x))
reciprocal = lambda x: 1.0 / x
negative = lambda x: -x
deg2rad = radians = lambda x: x * (pi / 180)
rad2deg = degrees = lambda x: x * (180 / pi)
cbrt = lambda x: power(x, 1 / 3)


def arctan2(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.atan2(a, b)
    return _of(torch.atan2(*(torch.as_tensor(v, dtype=torch.float64) for v in _pair(a, b))))


def hypot(a, b):
    return sqrt(square(a) + square(b))


def floor_divide(a, b):
    return a // b


def _compared(compare):
    return lambda a, b: compare(a, b) if _is_number(a) and _is_number(b) else compare(asarray(a), b)


_is_number = lambda x: isinstance(x, (int, float))
equal, not_equal, less, less_equal, greater, greater_equal = (_compared(c) for c in (
    lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b,
    lambda a, b: a >= b))
fmax, fmin, fmod, gcd, lcm = maximum, minimum, math.fmod, math.gcd, math.lcm
cumproduct, product, infty = cumprod, prod, inf


def ndindex(*shape):
    import itertools
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return itertools.product(*(range(n) for n in sizes))


def tri(N, M=None, k=0, dtype=float):
    return tril(ones((N, N if M is None else M), dtype=dtype), k)


# ---- order

def median(a, axis=None, keepdims=False):
    t = _un(asarray(a)).double()
    return _scalar(t.reshape(-1).quantile(0.5) if axis is None else t.quantile(0.5, axis, keepdim=keepdims))


def percentile(a, q, axis=None):
    return quantile(a, asarray(q) / 100 if not isinstance(q, (int, float)) else q / 100, axis)


def quantile(a, q, axis=None):
    t = _un(asarray(a)).double()
    q = q if isinstance(q, float) else torch.as_tensor(_un(q), dtype=torch.float64)
    return _scalar(torch.quantile(t.reshape(-1) if axis is None else t, q, 0 if axis is None else axis))


def average(a, axis=None, weights=None):
    if weights is None:
        return mean(a, axis)
    return sum(asarray(a) * asarray(weights), axis) / sum(asarray(weights), axis)


def argmin(a, axis=None):
    t = _un(asarray(a))
    return _scalar(t.argmin() if axis is None else t.argmin(axis))


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    values = sorted(set(asarray(ar).flatten().tolist()))
    out = array(values)
    if not (return_index or return_inverse or return_counts):
        return out
    flat = asarray(ar).flatten().tolist()
    extra = []
    if return_index:
        extra.append(array([flat.index(v) for v in values]))
    if return_inverse:
        extra.append(array([values.index(v) for v in flat]))
    if return_counts:
        extra.append(array([flat.count(v) for v in values]))
    return (out, *extra)


def bincount(x, weights=None, minlength=0):
    return _of(torch.bincount(_un(asarray(x)), None if weights is None else _un(weights), minlength))


def searchsorted(a, v, side="left"):
    return _scalar(torch.searchsorted(_un(asarray(a)), _un(v), right=side == "right"))


digitize = lambda x, bins, right=False: _of(torch.bucketize(_un(asarray(x)), _un(asarray(bins)), right=not right))


def diff(a, n=1, axis=-1, prepend=None, append=None):
    t = asarray(a)._t
    ends = [None if x is None else asarray(x)._t.to(t.dtype) for x in (prepend, append)]
    shape = [1 if i == axis % t.ndim else s for i, s in enumerate(t.shape)]
    first, last = [x if x is None or x.ndim else x.expand(shape) for x in ends]
    return _of(torch.diff(t, n, axis, first, last))


nonzero = lambda a: where(asarray(a))
argwhere = lambda a: _of(torch.argwhere(_un(asarray(a))))
flatnonzero = lambda a: nonzero(asarray(a).flatten())[0]
count_nonzero = lambda a, axis=None: _scalar(torch.count_nonzero(_un(asarray(a)), axis))
isin = in1d = lambda a, b: _of(torch.isin(_un(asarray(a)), _un(asarray(b))))
ptp = lambda a, axis=None: max_(a, axis) - min_(a, axis)
_for_nan = lambda a, value: where(isnan(asarray(a)), value, asarray(a))
nansum = lambda a, axis=None: sum(_for_nan(a, 0.0), axis)
nanmean = lambda a, axis=None: nansum(a, axis) / sum(1.0 - isnan(asarray(a)).astype(float64), axis)
nanmax = lambda a, axis=None: max_(_for_nan(a, -inf), axis)
nanmin = lambda a, axis=None: min_(_for_nan(a, inf), axis)


# ---- shape

roll = lambda a, shift, axis=None: _of(torch.roll(_un(a), shift) if axis is None else torch.roll(_un(a), shift, axis))
fliplr = lambda m: flip(m, 1)
flipud = lambda m: flip(m, 0)
rot90 = lambda m, k=1, axes=(0, 1): _of(torch.rot90(_un(m), k, axes))
moveaxis = lambda a, source, destination: _of(torch.movedim(_un(a), source, destination))
swapaxes = lambda a, axis1, axis2: asarray(a).swapaxes(axis1, axis2)
broadcast_to = lambda array, shape: _of(_un(asarray(array)).expand(*_size(shape)))
atleast_2d = lambda a: asarray(a) if asarray(a).ndim > 1 else asarray(a).reshape(1, -1)
dstack = lambda arrays: concatenate([a if a.ndim > 2 else a.reshape(*atleast_2d(a).shape, 1) for a in map(asarray, arrays)], 2)
column_stack = lambda arrays: concatenate([a if a.ndim > 1 else a.reshape(-1, 1) for a in map(asarray, arrays)], 1)
row_stack = vstack
hsplit = lambda ary, indices_or_sections: split(ary, indices_or_sections, 1)
vsplit = lambda ary, indices_or_sections: split(ary, indices_or_sections, 0)
diag = lambda v, k=0: _of(torch.diag(_un(asarray(v)), k))
diagonal = lambda a, offset=0, axis1=0, axis2=1: _of(torch.diagonal(_un(a), offset, axis1, axis2))
trace = lambda a: _scalar(torch.trace(_un(a)))
kron = lambda a, b: _of(torch.kron(*_pair(asarray(a), asarray(b))))
cross = lambda a, b: _of(torch.linalg.cross(*_pair(asarray(a), asarray(b))))
tensordot = lambda a, b, axes=2: _of(torch.tensordot(_un(a), _un(b), axes))
inner = lambda a, b: _scalar(torch.inner(*_pair(asarray(a), asarray(b))))
vdot = inner
take = lambda a, indices, axis=None: asarray(a).flatten()[indices] if axis is None else _of(_un(a).index_select(axis, _un(asarray(indices))))
take_along_axis = lambda a, indices, axis: _of(torch.take_along_dim(_un(a), _un(indices), axis))
delete = lambda arr, obj, axis=0: _of(torch.stack([p for i, p in enumerate(_un(asarray(arr)).unbind(axis)) if i not in ([obj] if isinstance(obj, int) else obj)], axis))
triu_indices = lambda n, k=0, m=None: tuple(_of(t) for t in torch.triu_indices(n, n if m is None else m, k).unbind(0))
tril_indices = lambda n, k=0, m=None: tuple(_of(t) for t in torch.tril_indices(n, n if m is None else m, k).unbind(0))
diag_indices = lambda n, ndim=2: (arange(n),) * ndim
unravel_index = lambda i, shape: tuple(_scalar(t) for t in torch.unravel_index(torch.as_tensor(_un(i)), _size(shape)))


def ravel_multi_index(index, shape):
    flat = 0
    for i, n in zip(index, shape):
        flat = flat * n + i
    return flat


def indices(dimensions, dtype=int):
    return stack(meshgrid(*[arange(n) for n in dimensions], indexing="ij"))


def ix_(*arrays):
    return tuple(asarray(a).reshape(*[-1 if i == j else 1 for j in range(len(arrays))]) for i, a in enumerate(arrays))


class _Grid:
    def __init__(self, dense):
        self._dense = dense

    def _axis(self, s):
        start, step = s.start or 0, 1 if s.step is None else s.step
        return linspace(start, s.stop, int(abs(step))) if isinstance(step, complex) else arange(start, s.stop, step)

    def __getitem__(self, key):
        if not isinstance(key, tuple):
            return self._axis(key)
        axes = [self._axis(s) for s in key]
        return stack(meshgrid(*axes, indexing="ij")) if self._dense else list(ix_(*axes))


mgrid, ogrid = _Grid(True), _Grid(False)


class _Columns:
    def __init__(self, axis):
        self._axis = axis

    def __getitem__(self, parts):
        parts = parts if isinstance(parts, tuple) else (parts,)
        parts = [p if isinstance(p, ndarray) else mgrid[p] if isinstance(p, slice) else array([p]) for p in parts]
        return column_stack(parts) if self._axis else concatenate(parts)


r_, c_ = _Columns(0), _Columns(1)


def pad(array, pad_width, mode="constant", constant_values=0, **kwargs):
    t, width = _un(asarray(array)), pad_width
    if isinstance(width, int):
        width = [(width, width)] * t.ndim
    elif isinstance(width[0], int):
        width = [(width[0], width[-1])] * t.ndim
    for axis, (before, after) in enumerate(width):
        n = t.shape[axis]
        if before == 0 and after == 0:
            continue
        if mode == "constant":
            part = lambda k: t.new_full((*t.shape[:axis], k, *t.shape[axis + 1:]), constant_values)
            t = torch.cat([part(before), t, part(after)], axis)
            continue
        at = [i for i in range(-before, n + after)]
        if mode == "edge":
            at = [_min(_max(i, 0), n - 1) for i in at]
        elif mode == "wrap":
            at = [i % n for i in at]
        else:
            turn = 2 * (n - 1) if mode == "reflect" else 2 * n
            at = [i % turn for i in at]
            at = [_min(i, turn - i) if mode == "reflect" else _min(i, turn - 1 - i) for i in at]
        t = t.index_select(axis, torch.tensor(at))
    return _of(t)


# ---- signals

def _window(f):
    def make(n, *args):
        if n == 1:
            return ones(1)
        return f(arange(n) / (n - 1), *args)
    return make


hanning = _window(lambda x: 0.5 - 0.5 * cos(2 * pi * x))
hamming = _window(lambda x: 0.54 - 0.46 * cos(2 * pi * x))
blackman = _window(lambda x: 0.42 - 0.5 * cos(2 * pi * x) + 0.08 * cos(4 * pi * x))
bartlett = _window(lambda x: 1 - abs(2 * x - 1))
kaiser = _window(lambda x, beta: i0(beta * sqrt(clip(1 - square(2 * x - 1), 0, None))) / i0(float(beta)))


def i0(x):
    return _scalar(torch.special.i0(torch.as_tensor(_un(x), dtype=torch.float64)))


def convolve(a, v, mode="full"):
    a, v = _un(asarray(a)).double(), _un(asarray(v)).double()
    full = torch.nn.functional.conv1d(a[None, None], v.flip(0)[None, None], padding=len(v) - 1)[0, 0]
    if mode == "full":
        return _of(full)
    n = _max(len(a), len(v)) if mode == "same" else _max(len(a), len(v)) - _min(len(a), len(v)) + 1
    start = (len(full) - n) // 2
    return _of(full[start:start + n])


def interp(x, xp, fp):
    x, xp, fp = (_un(asarray(v)).double() for v in (x, xp, fp))
    i = torch.searchsorted(xp, x).clamp(1, len(xp) - 1)
    share = ((x - xp[i - 1]) / (xp[i] - xp[i - 1])).clamp(0, 1)
    return _of(fp[i - 1] + share * (fp[i] - fp[i - 1]))


def cov(a, *args, **kwargs):
    return _of(torch.cov(_un(asarray(a)).double()))


class _Fourier:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        g = getattr(torch.fft, name)

        def apply(a, *args, **kwargs):
            axis = kwargs.pop("axis", None)
            if axis is not None:
                kwargs["dim"] = axis
            axes = kwargs.pop("axes", None)
            if axes is not None:
                kwargs["dim"] = axes
            return _of(g(_un(a) if name.endswith("freq") else _un(asarray(a)), *args, **kwargs))
        return apply


fft = _Fourier()

# ---- what random generators give has values that nobody knows

for _n in ("exponential", "beta", "gamma", "laplace", "lognormal", "poisson", "binomial", "logistic", "standard_cauchy",
           "rayleigh", "weibull", "gumbel", "pareto", "chisquare", "geometric", "triangular", "vonmises", "wald",
           "standard_exponential", "standard_gamma", "standard_t", "negative_binomial"):
    setattr(_Random, _n, lambda self, *args, size=None, **kwargs: self._of_shape(size))


def _linear(name):
    g = getattr(torch.linalg, name)

    def apply(self, *arrays, **kwargs):
        if "full_matrices" not in kwargs and name == "svd":
            kwargs["full_matrices"] = True
        kwargs.pop("compute_uv", None)
        kwargs.pop("rcond", None)
        r = g(*[_un(asarray(a)).double() for a in arrays], **kwargs)
        return tuple(_of(t) for t in r) if isinstance(r, tuple) else _scalar(r)
    return apply


for _n in ("pinv", "qr", "svd", "eigh", "eig", "det", "solve", "lstsq", "cholesky", "matrix_rank", "slogdet", "eigvalsh"):
    setattr(_Linalg, _n, _linear(_n))


def _matrix_power(self, a, n):
    a = asarray(a)
    if n == 0:
        return zeros_like(a) + eye(a.shape[-1], dtype=a.dtype)
    return _product([a if n > 0 else self.inv(a)] * int(n if n > 0 else -n))


def _product(arrays):
    made = asarray(arrays[0])
    for a in arrays[1:]:
        made = made @ asarray(a)
    return made


_Linalg.matrix_power = _matrix_power
_Linalg.multi_dot = lambda self, arrays, out=None: _product(arrays)
_Linalg.eigvals = lambda self, a: self.eig(a)[0]
_Linalg.LinAlgError = type("LinAlgError", (ValueError,), {})

ndarray.real = property(lambda self: _of(self._t.real) if self._t.is_complex() else self)
ndarray.imag = property(lambda self: _of(self._t.imag) if self._t.is_complex() else _of(self._t * 0))
ndarray.nbytes = property(lambda self: self._t.numel() * self._t.element_size())
ndarray.itemsize = property(lambda self: self._t.element_size())
ndarray.flat = property(lambda self: self.flatten())
ndarray.argmin, ndarray.conj, ndarray.trace, ndarray.diagonal, ndarray.take, ndarray.nonzero = (
    argmin, conj, trace, diagonal, take, nonzero)
ndarray.sort = lambda self, axis=-1: self._t.copy_(self._t.sort(axis)[0]) and None
ndarray.__divmod__ = lambda self, other: (self // other, self % other)
ndarray.__contains__ = lambda self, x: bool(any(self == x))

object_, str_ = object, str
set_printoptions = seterr = lambda *args, **kwargs: None


def issubdtype(d, kind):
    c = d if isinstance(d, type) and issubclass(d, generic) else dtype(d).type
    kind = {float: floating, int: integer}.get(kind, kind)
    return issubclass(c, kind if isinstance(kind, type) else dtype(kind).type)


class errstate:
    def __init__(self, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None


class vectorize:
    def __init__(self, f, otypes=None, **kwargs):
        self._f = f

    def __call__(self, a, *rest):
        a = asarray(a)
        rest = [asarray(r).flatten().tolist() if isinstance(r, (ndarray, list)) else r for r in rest]
        flat = [self._f(x, *[r[i] if isinstance(r, list) else r for r in rest]) for i, x in enumerate(a.flatten().tolist())]
        return array(flat).reshape(a.shape)


def apply_along_axis(f, axis, a, *args):
    rows = [f(_of(t), *args) for t in _un(a).movedim(axis, -1).reshape(-1, a.shape[axis]).unbind(0)]
    lead = [n for i, n in enumerate(a.shape) if i != axis % a.ndim]
    return array(rows).reshape(*lead, *asarray(rows[0]).shape)
`;

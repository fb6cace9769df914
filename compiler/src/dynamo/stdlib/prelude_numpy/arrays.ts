// numpy: dtypes, the array class and its operators. Python text.

export const ARRAYS = `import math

pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
_any, _all = any, all
newaxis = None
__version__ = "2.2.0"


class dtype:
    def __init__(self, name, torch_dtype=None):
        self._t = _dt(name) if torch_dtype is None else torch_dtype
        self.name = str(self._t)[6:]
        self.itemsize = self._t.itemsize
        self.kind = _KINDS[self.name][0]

    def __call__(self, x=0):
        return _make(self.name, x)

    @property
    def type(self):
        return _SCALARS[self.name]

    def __eq__(self, other):
        return _dt(other) == self._t

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __str__(self):
        return self.name


_TORCH = {n: getattr(torch, n) for n in
          ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool")}
_TORCH["complex64"], _TORCH["complex128"] = torch.complex64, torch.complex128


def _dt(d):
    if d is None:
        return None
    if isinstance(d, dtype):
        return d._t
    if isinstance(d, str):
        d = d.lstrip("<>=|")
        return _TORCH.get({"float": "float64", "int": "int64", "double": "float64", "f4": "float32", "f8": "float64", "i8": "int64",
                           "i4": "int32", "i2": "int16", "u1": "uint8", "complex": "complex128"}.get(d, d))
    d = getattr(d, "_dtype_name", d)
    if isinstance(d, str):
        return _TORCH.get(d)
    return {float: torch.float64, int: torch.int64, bool: torch.bool, complex: torch.complex128}.get(d, d)



def _un(x):
    if isinstance(x, ndarray):
        return x._t
    if isinstance(x, (list, tuple)):
        return array(x)._t
    return x


def _listed(k):
    return list(k) if isinstance(k, range) else k


def _of(t):
    return ndarray(t)


def _pair(a, b):
    a, b = _un(a), _un(b)
    names = [_name_of(v) for v in (a, b)]
    if names[0] != names[1] and None not in names:
        d = _TORCH[_promote(*names)]
        a, b = (v.to(d) if isinstance(v, torch.Tensor) else v for v in (a, b))
        return tuple(_number(v) for v in (a, b))
    a, b = _number(a), _number(b)
    if isinstance(a, torch.Tensor) and isinstance(b, float) and not a.is_floating_point():
        a = a.double()
    if isinstance(b, torch.Tensor) and isinstance(a, float) and not b.is_floating_point():
        b = b.double()
    return a, b


class ndarray:
    def __init__(self, t):
        self._t = t

    @property
    def shape(self):
        return tuple(self._t.shape)

    @property
    def dtype(self):
        return dtype(str(self._t.dtype)[6:], self._t.dtype)

    @property
    def ndim(self):
        return self._t.ndim

    @property
    def size(self):
        return self._t.numel()

    @property
    def T(self):
        return _of(self._t.permute(*reversed(range(self._t.ndim))))

    def __len__(self):
        return len(self._t)

    def __iter__(self):
        for i in range(len(self._t)):
            yield self[i]

    def __getitem__(self, key):
        t = self._t
        parts = key if isinstance(key, tuple) else (key,)
        plain, flips = [], []
        for i, k in enumerate(parts):
            if isinstance(k, slice) and k.step is not None and k.step < 0:
                flips.append(i)
                k = slice(None) if k.start is None and k.stop is None else slice(k.stop, k.start)
            plain.append(_un(_listed(k)) if isinstance(k, (ndarray, list, range)) else k)
        if flips:
            t = t.flip(flips)
        out = t[tuple(plain)] if isinstance(key, tuple) else t[plain[0]]
        if out.ndim == 0 and _all(isinstance(k, int) for k in parts):
            return out.item()
        return _of(out)

    def __setitem__(self, key, value):
        key = tuple(_un(_listed(k)) for k in key) if isinstance(key, tuple) else _un(_listed(key))
        self._t[key] = _un(value)

    def astype(self, d, copy=True):
        return _of(self._t.to(_dt(d)))

    def reshape(self, *shape, order="C"):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return _of(self._t.reshape(*shape))

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return _of(self._t.permute(*(axes or reversed(range(self._t.ndim)))))

    def flatten(self):
        return _of(self._t.reshape(-1))

    ravel = flatten

    def copy(self):
        return _of(self._t.clone())

    def squeeze(self, axis=None):
        return _of(self._t.squeeze() if axis is None else self._t.squeeze(axis))

    def swapaxes(self, a, b):
        return _of(self._t.transpose(a, b))

    def repeat(self, repeats, axis=None):
        return _of(self._t.repeat_interleave(_un(repeats), dim=axis))

    def fill(self, v):
        self._t.fill_(v)

    def item(self, *at):
        return self._t.item()

    def tolist(self):
        return self._t.tolist()

    def tobytes(self):
        return b""

    def dot(self, other):
        return _of(self._t @ _un(other))

    def clip(self, low=None, high=None):
        return _of(self._t.clamp(low, high))

    def round(self, decimals=0):
        return _of(self._t.round(decimals=decimals))

    def argmax(self, axis=None):
        return _scalar(self._t.argmax() if axis is None else self._t.argmax(axis))

    def argsort(self, axis=-1):
        return _of(self._t.argsort(axis))

    def __array__(self, *args):
        return self

    def __bool__(self):
        return bool(self._t)

    def __int__(self):
        return int(self._t)

    def __float__(self):
        return float(self._t)

    def __index__(self):
        return int(self._t)

    def __neg__(self):
        return _of(-self._t)

    def __invert__(self):
        return _of(~self._t)

    def __abs__(self):
        return _of(self._t.abs())

    def __repr__(self):
        return f"array({self._t.tolist()})"

    def __hash__(self):
        return id(self)


def _scalar(t):
    return t.item() if t.ndim == 0 else _of(t)


def _operators():
    import operator
    names = ["add", "sub", "mul", "pow", "mod", "floordiv", "matmul", "and_", "or_", "xor"]
    for name in names:
        f = getattr(operator, name)
        dunder = name.rstrip("_")

        def forward(self, other, f=f):
            return _of(f(*_pair(self, other)))

        def reverse(self, other, f=f):
            a, b = _pair(self, other)
            return _of(f(b, a))

        setattr(ndarray, f"__{dunder}__", forward)
        setattr(ndarray, f"__r{dunder}__", reverse)
        if dunder in ("add", "sub", "mul", "floordiv", "mod"):
            def inplace(self, other, f=f):
                self._t.copy_(f(*_pair(self, other)))
                return self
            setattr(ndarray, f"__i{dunder}__", inplace)
    for name in ["lt", "le", "gt", "ge", "eq", "ne"]:
        f = getattr(operator, name)
        setattr(ndarray, f"__{name}__", lambda self, other, f=f: _of(f(*_pair(self, other))))

    def divide(a, b):
        a, b = _pair(a, b)
        if isinstance(a, torch.Tensor) and not a.is_floating_point():
            a = a.double()
        if isinstance(b, torch.Tensor) and not b.is_floating_point():
            b = b.double()
        return _of(a / b)

    def inplace_divide(self, other):
        self._t.copy_(divide(self, other)._t)
        return self

    ndarray.__truediv__ = divide
    ndarray.__rtruediv__ = lambda self, other: divide(other, self)
    ndarray.__itruediv__ = inplace_divide


_operators()
`;

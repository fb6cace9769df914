// numpy: its scalar types, which are Python's numbers with a dtype, and the dtypes of results. Python text. Scalars are made
// where the program names a type (np.float32(x)); what is read out of arrays is a plain number.

export const SCALARS = `class generic:
    pass


class number(generic):
    pass


class integer(number):
    pass


class signedinteger(integer):
    pass


class unsignedinteger(integer):
    pass


class inexact(number):
    pass


class floating(inexact):
    pass


class complexfloating(inexact):
    pass


# name: kind, bytes
_KINDS = {"bool": ("b", 1), "float16": ("f", 2), "float32": ("f", 4), "float64": ("f", 8), "complex64": ("c", 8),
          "complex128": ("c", 16), **{f"int{8 * n}": ("i", n) for n in (1, 2, 4, 8)},
          **{f"uint{8 * n}": ("u", n) for n in (1, 2, 4, 8)}}


def _promote(a, b):
    (ka, na), (kb, nb) = _KINDS[a], _KINDS[b]
    if a == b or kb == "b":
        return a
    if ka == "b":
        return b
    if ka == kb:
        return a if na > nb else b
    if ka == "c" or kb == "c":
        parts = [n // 2 if k == "c" else _KINDS[_promote("float16", m)][1] for k, n, m in ((ka, na, a), (kb, nb, b))]
        return "complex128" if max(parts) > 4 else "complex64"
    if ka == "f" or kb == "f":
        f, n = (a, nb) if ka == "f" else (b, na)
        return _promote(f, {1: "float16", 2: "float32"}.get(n, "float64"))
    signed, unsigned = (na, nb) if ka == "i" else (nb, na)
    n = signed if signed > unsigned else 2 * unsigned
    return f"int{8 * n}" if n <= 8 else "float64"


def _weak(name, x):
    # a number of Python's takes the type that it meets, if that can be its kind at all
    kind = _KINDS[name][0]
    if isinstance(x, bool) or kind == "c":
        return name
    if isinstance(x, int):
        return "int64" if kind == "b" else name
    if isinstance(x, complex):
        return "complex64" if name in ("float16", "float32") else "complex128"
    return name if kind == "f" else "float64"


def _name_of(x):
    if isinstance(x, generic):
        return x._dtype_name
    if isinstance(x, ndarray):
        return x.dtype.name
    if isinstance(x, torch.Tensor):
        return str(x.dtype)[6:]
    if isinstance(x, (bool, int, float, complex)):
        return None
    # what is not known takes the type that it meets, as a number of Python's does
    name = str(_dt(x))[6:]
    return name if name in _TORCH else None


def result_type(*arrays_and_dtypes):
    names = [_name_of(x) for x in arrays_and_dtypes]
    name = None
    for n in names:
        name = n if name is None or n is None and name is None else name if n is None else _promote(name, n)
    for x, n in zip(arrays_and_dtypes, names):
        if n is None:
            name = _name_of(_plain_type(x)) if name is None else _weak(name, x)
    return dtype(name)


def _plain_type(x):
    return bool if isinstance(x, bool) else int if isinstance(x, int) else float if isinstance(x, float) else complex


def promote_types(type1, type2):
    return dtype(_promote(dtype(type1).name, dtype(type2).name))


def can_cast(from_, to, casting="safe"):
    return promote_types(from_, to) == dtype(to)


def _rounded(x, bits, largest):
    if x != x or x in (inf, -inf) or x == 0:
        return x
    m, e = math.frexp(x)
    r = math.ldexp(round(m * 2.0 ** bits), e - bits)
    return math.copysign(inf, x) if abs(r) > largest else r


def _valued(name, base, x):
    if base is int:
        bits = 8 * _KINDS[name][1]
        low, high = (0, 2 ** bits - 1) if name[0] == "u" else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
        if not low <= x <= high:
            raise OverflowError(f"Python integer {x} out of bounds for {name}")
        return x
    if name == "float32":
        return _rounded(x, 24, 3.4028234663852886e38)
    return _rounded(x, 11, 65504.0) if name == "float16" else x


def _make(name, x):
    return _SCALARS[name](x)


def _scalar_type(name, base, parent):
    def __new__(cls, x=0, *args):
        if isinstance(x, ndarray):
            return x.astype(name)
        if isinstance(x, (list, tuple)):
            return array(x, dtype=name)
        v = base(x)
        # a number that nobody knows stays one
        if isinstance(x, torch.Tensor) or type(v) is not base:
            return v
        return base.__new__(cls, _valued(name, base, v))

    members = {"__new__": __new__, "_dtype_name": name, "shape": (), "ndim": 0, "size": 1, "__module__": "numpy",
               "dtype": property(lambda self: dtype(name)), "itemsize": _KINDS[name][1],
               "item": lambda self, *at: base(self), "tolist": lambda self: base(self),
               "astype": lambda self, d, copy=True: _make(dtype(d).name, base(self)),
               "reshape": lambda self, *shape: array(self).reshape(*shape),
               "__repr__": lambda self: f"np.{name}({_shown(name, base(self))})", "__str__": lambda self: _shown(name, base(self)),
               "__neg__": lambda self: _make(name, -base(self)), "__pos__": lambda self: self,
               "__abs__": lambda self: _make(name, abs(base(self)))}
    return type(name, (parent, base), members)


def _shown(name, x):
    if name in ("float16", "float32") and x == x and abs(x) != inf:
        for digits in range(1, 10):
            text = f"{x:.{digits}g}"
            if _valued(name, float, float(text)) == x:
                return str(float(text))
    return str(x)


float16, float32, float64 = (_scalar_type(n, float, floating) for n in ("float16", "float32", "float64"))
int8, int16, int32, int64 = (_scalar_type(n, int, signedinteger) for n in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (_scalar_type(n, int, unsignedinteger) for n in ("uint8", "uint16", "uint32", "uint64"))
_SCALARS = {c._dtype_name: c for c in
            (float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64)}


def _plain_scalar_type(name, base, parent):
    # its values are Python's, arrays of them aside
    def __new__(cls, x=0):
        if isinstance(x, ndarray):
            return x.astype(name)
        return array(x, dtype=name) if isinstance(x, (list, tuple)) else base(x)

    return type(name, (parent,), {"__new__": __new__, "_dtype_name": name, "__module__": "numpy"})


bool_ = _plain_scalar_type("bool", bool, generic)
complex64, complex128 = (_plain_scalar_type(n, complex, complexfloating) for n in ("complex64", "complex128"))
_SCALARS.update({"bool": bool_, "complex64": complex64, "complex128": complex128})


def _scalar_operators():
    import operator
    for op in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        f = getattr(operator, op)

        def binary(self, other, swapped, f=f, op=op):
            if not isinstance(other, (int, float)) or isinstance(other, ndarray):
                return NotImplemented
            name = result_type(self, other).name
            if op == "truediv" and _KINDS[name][0] != "f":
                name = "float64"
            if name not in _SCALARS:
                return NotImplemented
            a, b = (_number(other), _number(self)) if swapped else (_number(self), _number(other))
            try:
                r = f(a, b)
            except ZeroDivisionError:
                r = _divided_by_zero(op, a, _KINDS[name][0] == "f")
            except OverflowError:
                r = inf
            return _make(name, r)

        def forward(self, other, binary=binary):
            return binary(self, other, False)

        def reverse(self, other, binary=binary):
            return binary(self, other, True)

        for c in _SCALARS.values():
            if c in (bool_, complex64, complex128):
                continue
            setattr(c, f"__{op}__", forward)
            setattr(c, f"__r{op}__", reverse)


def _divided_by_zero(op, a, floating):
    # numpy warns and goes on
    if not floating:
        return 0
    if op == "pow":
        return inf
    return nan if op == "mod" or a == 0 or a != a else math.copysign(inf, a)


def _number(x):
    return x.item() if isinstance(x, generic) else x


_scalar_operators()
`;

// Python text of collections, types, copy and abc, run by the interpreter on first import.

export const CONTAINERS: Readonly<Record<string, string>> = {
  collections: `
class OrderedDict(dict):
    pass


class Counter(dict):
    def __init__(self, iterable=None, **kwargs):
        super().__init__()
        self.update(iterable, **kwargs)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, **kwargs):
        if iterable is not None:
            if isinstance(iterable, dict):
                for key, n in iterable.items():
                    self[key] = self.get(key, 0) + n
            else:
                for key in iterable:
                    self[key] = self.get(key, 0) + 1
        for key, n in kwargs.items():
            self[key] = self.get(key, 0) + n

    def most_common(self, n=None):
        ranked = sorted(self.items(), key=lambda item: -item[1])
        return ranked if n is None else ranked[:n]

    def elements(self):
        return (key for key, n in self.items() for _ in range(n))

    def total(self):
        return sum(self.values())

    def subtract(self, iterable=None, **kwargs):
        for key, n in Counter(iterable, **kwargs).items():
            self[key] = self[key] - n

    def _joined(self, other, join):
        out = Counter()
        for key in list(self) + [k for k in other if k not in self]:
            n = join(self[key], other[key])
            if n > 0:
                out[key] = n
        return out

    def __add__(self, other):
        return self._joined(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._joined(other, lambda a, b: a - b)

    def __or__(self, other):
        return self._joined(other, max)

    def __and__(self, other):
        return self._joined(other, min)


class UserDict(dict):
    pass


class UserList(list):
    pass


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for m in self.maps:
            if key in m:
                return m[key]
        raise KeyError(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any(key in m for m in self.maps)


class deque(list):
    def __init__(self, iterable=(), maxlen=None):
        super().__init__(iterable)
        self.maxlen = maxlen
        self._trim()

    def _trim(self):
        if self.maxlen is not None:
            while len(self) > self.maxlen:
                list.pop(self, 0)

    def append(self, value):
        list.append(self, value)
        self._trim()

    def appendleft(self, value):
        list.insert(self, 0, value)

    def popleft(self):
        return list.pop(self, 0)

    def extendleft(self, values):
        for v in values:
            self.appendleft(v)

    def rotate(self, n=1):
        for _ in range(n):
            self.appendleft(self.pop())


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    names = field_names.replace(",", " ").split() if isinstance(field_names, str) else list(field_names)
    return _make_namedtuple(typename, tuple(names), tuple(defaults or ()))


def _make_namedtuple(typename, names, defaults, base=tuple, body=None):
    first = len(names) - len(defaults)

    def __new__(cls, *args, **kwargs):
        values = list(args)
        # as programs give fields defaults: Point.__new__.__defaults__ = (None, None)
        late = members["__new__"].__defaults__ or defaults
        first = len(names) - len(late)
        if len(values) > len(names):
            raise TypeError(f"{typename}.__new__() takes {len(names) + 1} positional arguments but "
                            f"{len(values) + 1} were given")
        for i in range(len(values), len(names)):
            if names[i] in kwargs:
                values.append(kwargs[names[i]])
            elif i >= first:
                values.append(late[i - first])
            else:
                raise TypeError(f"{typename}.__new__() missing required argument: '{names[i]}'")
        for key in kwargs:
            if key not in names:
                raise TypeError(f"{typename}.__new__() got an unexpected keyword argument '{key}'")
        return tuple.__new__(cls, values)

    def __repr__(self):
        return typename + "(" + ", ".join(f"{n}={v!r}" for n, v in zip(names, self)) + ")"

    members = dict(body or {})
    members.update({
        "__new__": __new__, "__repr__": __repr__, "_fields": names, "__match_args__": names,
        "_field_defaults": dict(zip(names[first:], defaults)),
        "_asdict": lambda self: dict(zip(names, self)),
        "_replace": lambda self, **kw: self.__class__(*[kw.get(n, v) for n, v in zip(names, self)]),
        "_make": classmethod(lambda cls, values: cls(*values)),
    })
    for i, n in enumerate(names):
        members[n] = property(lambda self, i=i: self[i])
    return type(typename, (tuple,), members)
`,

  types: `
class SimpleNamespace:
    def __init__(self, mapping=None, /, **kwargs):
        self.__dict__.update(mapping or {})
        self.__dict__.update(kwargs)

    def __repr__(self):
        return "namespace(" + ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()) + ")"

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


class MethodType:
    def __new__(cls, func, obj):
        return _bind(func, obj)


class GenericAlias:
    pass


class MappingProxyType(dict):
    pass


class DynamicClassAttribute(property):
    pass


def new_class(name, bases=(), kwds=None, exec_body=None):
    body = {}
    if exec_body is not None:
        exec_body(body)
    return type(name, tuple(bases), body)
`,

  copy: `
class Error(Exception):
    pass


def copy(x):
    own = getattr(x, "__copy__", None)
    if own is not None:
        return own()
    if isinstance(x, (int, float, str, bytes, tuple, type, frozenset)) or x is None or callable(x) and not hasattr(x, "__dict__"):
        return x
    if isinstance(x, list):
        return list(x) if type(x) is list else _fill(x, list(x))
    if isinstance(x, dict):
        return x.copy()
    if isinstance(x, set):
        return x.copy()
    return _shallow(x)


def _fill(x, items):
    made = _shallow(x)
    list.extend(made, items)
    return made


def deepcopy(x, memo=None):
    if memo is None:
        memo = {}
    key = id(x)
    if key in memo:
        return memo[key]
    if x is None or isinstance(x, (int, float, str, bytes, type, complex, range)):
        return x
    own = getattr(x, "__deepcopy__", None)
    if own is not None and not isinstance(x, type):
        made = own(memo)
        memo[key] = made
        return made
    if isinstance(x, tuple):
        made = _same_kind(x, [deepcopy(v, memo) for v in x])
        memo[key] = made
        return made
    if isinstance(x, list):
        made = _empty_like(x)
        memo[key] = made
        for v in x:
            list.append(made, deepcopy(v, memo))
        _copy_attributes(x, made, memo, deepcopy)
        return made
    if isinstance(x, dict):
        made = _empty_like(x)
        memo[key] = made
        for k, v in x.items():
            made[deepcopy(k, memo)] = deepcopy(v, memo)
        _copy_attributes(x, made, memo, deepcopy)
        return made
    if isinstance(x, (set, frozenset)):
        return type(x)(deepcopy(v, memo) for v in x)
    if type(x).__name__ == "method":
        return type(x)(x.__func__, deepcopy(x.__self__, memo))
    if _is_plain_callable(x):
        return x
    made = _empty_like(x)
    memo[key] = made
    _copy_attributes(x, made, memo, deepcopy)
    return made
`,

  abc: `
class ABCMeta(type):
    def register(cls, sub):
        return sub


class ABC(metaclass=ABCMeta):
    pass


def abstractmethod(f):
    return f


abstractproperty = property
abstractclassmethod = classmethod
abstractstaticmethod = staticmethod
`,
};

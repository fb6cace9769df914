// Parts of the standard library that are simplest said in Python: run by the interpreter itself, on first import. Written
// for what model files use of them. Their frames never show in a stack.

export const PRELUDE: Readonly<Record<string, string>> = {
  functools: `
class partial:
    def __init__(self, func, /, *args, **keywords):
        if isinstance(func, partial):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    def __repr__(self):
        return f"functools.partial({self.func!r})"


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func, self.args, self.keywords = func, args, keywords

    def __get__(self, obj, cls=None):
        return partial(getattr(obj, self.func) if isinstance(self.func, str) else self.func.__get__(obj, cls),
                       *self.args, **self.keywords)


WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__")


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=("__dict__",)):
    for name in assigned:
        if hasattr(wrapped, name):
            setattr(wrapper, name, getattr(wrapped, name))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=("__dict__",)):
    return lambda wrapper: update_wrapper(wrapper, wrapped, assigned, updated)


_missing = object()


def reduce(function, iterable, initial=_missing):
    it = iter(iterable)
    value = next(it) if initial is _missing else initial
    for item in it:
        value = function(value, item)
    return value


def lru_cache(maxsize=128, typed=False):
    def decorate(user_function):
        store = {}

        def wrapper(*args, **kwargs):
            key = (args, tuple(sorted(kwargs.items())))
            try:
                if key in store:
                    return store[key]
            except TypeError:
                return user_function(*args, **kwargs)
            result = user_function(*args, **kwargs)
            store[key] = result
            return result

        wrapper.cache_clear = lambda: store.clear()
        wrapper.cache_info = lambda: None
        return update_wrapper(wrapper, user_function)

    if callable(maxsize):
        return decorate(maxsize)
    return decorate


def cache(user_function):
    return lru_cache(None)(user_function)


class cached_property:
    def __init__(self, func):
        self.func = func
        self.name = getattr(func, "__name__", None)

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, obj, cls=None):
        if obj is None:
            return self
        value = self.func(obj)
        obj.__dict__[self.name] = value
        return value


class singledispatch:
    def __init__(self, func):
        self.func = func
        self.registry = {}

    def register(self, cls, func=None):
        if func is None:
            return lambda f: self.register(cls, f)
        self.registry[cls] = func
        return func

    def __call__(self, *args, **kwargs):
        for cls in type(args[0]).__mro__:
            if cls in self.registry:
                return self.registry[cls](*args, **kwargs)
        return self.func(*args, **kwargs)


def total_ordering(cls):
    return cls


def cmp_to_key(compare):
    class K:
        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return compare(self.obj, other.obj) < 0

        def __gt__(self, other):
            return compare(self.obj, other.obj) > 0

    return K
`,

  contextlib: `
class ContextDecorator:
    def __call__(self, func):
        def inner(*args, **kwargs):
            with self._recreate_cm():
                return func(*args, **kwargs)
        inner.__name__ = getattr(func, "__name__", "inner")
        inner.__wrapped__ = func
        return inner

    def _recreate_cm(self):
        return self


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


class _GeneratorContextManager(ContextDecorator):
    def __init__(self, func, args, kwargs):
        self.gen = func(*args, **kwargs)
        self.func, self.args, self.kwds = func, args, kwargs

    def _recreate_cm(self):
        return self.__class__(self.func, self.args, self.kwds)

    def __enter__(self):
        return next(self.gen)

    def __exit__(self, kind, value, trace):
        if kind is None:
            next(self.gen, None)
            return False
        try:
            self.gen.throw(value)
        except StopIteration as stop:
            return stop is not value
        except BaseException as other:
            if other is value:
                return False
            raise
        return False


def contextmanager(func):
    def helper(*args, **kwargs):
        return _GeneratorContextManager(func, args, kwargs)
    helper.__name__ = getattr(func, "__name__", "helper")
    helper.__wrapped__ = func
    return helper


class nullcontext(ContextDecorator):
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, kind, value, trace):
        return None


class suppress:
    def __init__(self, *exceptions):
        self.exceptions = exceptions

    def __enter__(self):
        return None

    def __exit__(self, kind, value, trace):
        return kind is not None and issubclass(kind, self.exceptions)


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, kind, value, trace):
        self.thing.close()


class redirect_stdout(nullcontext):
    pass


class redirect_stderr(nullcontext):
    pass


class ExitStack:
    def __init__(self):
        self._exits = []

    def enter_context(self, cm):
        result = cm.__enter__()
        self._exits.append(cm.__exit__)
        return result

    def push(self, exit):
        self._exits.append(exit if callable(exit) else exit.__exit__)
        return exit

    def callback(self, func, *args, **kwargs):
        self._exits.append(lambda *exc: func(*args, **kwargs) and False)
        return func

    def pop_all(self):
        other = ExitStack()
        other._exits = self._exits
        self._exits = []
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        handled = False
        while self._exits:
            if self._exits.pop()(kind, value, trace):
                handled = True
                kind = value = trace = None
        return handled
`,

  dataclasses: `
class _Missing:
    def __repr__(self):
        return "MISSING"


MISSING = _Missing()
KW_ONLY = "KW_ONLY"


class FrozenInstanceError(AttributeError):
    pass


class InitVar:
    def __class_getitem__(cls, item):
        return cls


class Field:
    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = {} if metadata is None else metadata
        self.kw_only = kw_only


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None,
          kw_only=False, doc=None):
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _collect(cls, kw_only):
    found = {}
    for base in cls.__mro__[-1:0:-1]:
        for f in getattr(base, "__dict__", {}).get("__dataclass_fields__", {}).values():
            found[f.name] = f
    only = kw_only
    for name, kind in cls.__dict__.get("__annotations__", {}).items():
        text = str(kind)
        if "KW_ONLY" in text:
            only = True
            continue
        if "ClassVar" in text:
            continue
        given = cls.__dict__.get(name, MISSING)
        if isinstance(given, Field):
            f = given
        else:
            f = Field(given, MISSING, True, True, None, True, None, only)
        f.kw_only = f.kw_only or only
        f.name = name
        f.type = kind
        f.init_only = "InitVar" in text
        found[name] = f
        if isinstance(given, Field):
            if f.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, f.default)
    return found


def _process(cls, init, repr, eq, order, frozen, kw_only):
    found = _collect(cls, kw_only)
    cls.__dataclass_fields__ = found
    listed = list(found.values())
    positional = [f for f in listed if f.init and not f.kw_only]
    keyword = [f for f in listed if f.init and f.kw_only]
    names = [f.name for f in listed if not f.init_only]

    def __init__(self, *args, **kwargs):
        if len(args) > len(positional):
            raise TypeError(f"{cls.__name__}.__init__() takes {len(positional) + 1} positional arguments but "
                            f"{len(args) + 1} were given")
        given = {}
        for f, value in zip(positional, args):
            given[f.name] = value
        for name, value in kwargs.items():
            if name not in found or not found[name].init:
                raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'")
            if name in given:
                raise TypeError(f"{cls.__name__}.__init__() got multiple values for argument '{name}'")
            given[name] = value
        missing = []
        extra = []
        for f in listed:
            if f.name in given:
                value = given[f.name]
            elif f.default is not MISSING:
                value = f.default
            elif f.default_factory is not MISSING:
                value = f.default_factory()
            elif f.init:
                missing.append(f.name)
                continue
            else:
                continue
            if f.init_only:
                extra.append(value)
            else:
                object.__setattr__(self, f.name, value)
        if missing:
            plural = "" if len(missing) == 1 else "s"
            listing = " and ".join(f"'{m}'" for m in missing)
            raise TypeError(f"{cls.__name__}.__init__() missing {len(missing)} required positional argument{plural}: "
                            f"{listing}")
        after = getattr(self, "__post_init__", None)
        if after is not None:
            after(*extra)

    def __repr__(self):
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in listed if f.repr and not f.init_only)
        return f"{self.__class__.__qualname__}({shown})"

    def values(self):
        return tuple(getattr(self, f.name) for f in listed if f.compare and not f.init_only)

    def __eq__(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    if init and "__init__" not in cls.__dict__:
        cls.__init__ = __init__
    if repr and "__repr__" not in cls.__dict__:
        cls.__repr__ = __repr__
    if eq and "__eq__" not in cls.__dict__:
        cls.__eq__ = __eq__
        if frozen:
            cls.__hash__ = lambda self: hash(values(self))
    if order:
        cls.__lt__ = lambda self, other: values(self) < values(other)
        cls.__le__ = lambda self, other: values(self) <= values(other)
        cls.__gt__ = lambda self, other: values(self) > values(other)
        cls.__ge__ = lambda self, other: values(self) >= values(other)
    if frozen:
        def __setattr__(self, name, value):
            raise FrozenInstanceError(f"cannot assign to field '{name}'")
        cls.__setattr__ = __setattr__
    cls.__match_args__ = tuple(f.name for f in positional)
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False,
              match_args=True, kw_only=False, slots=False, weakref_slot=False):
    def wrap(c):
        return _process(c, init, repr, eq, order, frozen, kw_only)
    return wrap if cls is None else wrap(cls)


def fields(thing):
    return tuple(f for f in thing.__dataclass_fields__.values() if not f.init_only)


def is_dataclass(thing):
    return hasattr(thing, "__dataclass_fields__")


def _plain(value, make):
    if is_dataclass(value) and not isinstance(value, type):
        return make([(f.name, _plain(getattr(value, f.name), make)) for f in fields(value)])
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(v, make) for v in value)
    if isinstance(value, dict):
        return {k: _plain(v, make) for k, v in value.items()}
    return value


def asdict(thing, *, dict_factory=dict):
    return _plain(thing, dict_factory)


def astuple(thing, *, tuple_factory=tuple):
    return tuple_factory(getattr(thing, f.name) for f in fields(thing))


def replace(thing, /, **changes):
    values = {f.name: getattr(thing, f.name) for f in fields(thing) if f.init}
    values.update(changes)
    return thing.__class__(**values)


def make_dataclass(name, spec, *, bases=(), namespace=None, **options):
    body = dict(namespace or {})
    annotations = {}
    for item in spec:
        if isinstance(item, str):
            annotations[item] = "object"
        else:
            annotations[item[0]] = item[1]
            if len(item) > 2:
                body[item[0]] = item[2]
    body["__annotations__"] = annotations
    return dataclass(type(name, tuple(bases), body), **options)
`,

  enum: `
class auto:
    pass


class _Namespace(dict):
    pass


class EnumMeta(type):
    def __new__(meta, name, bases, names, **kwargs):
        members = {}
        body = {}
        hidden = ("_ignore_",)
        for key, value in names.items():
            special = key.startswith("_") or callable(value) or isinstance(value, (property, staticmethod, classmethod))
            special = special or (hasattr(value, "__get__") and not isinstance(value, auto))
            if special or key in hidden:
                body[key] = value
            else:
                members[key] = value
        cls = type.__new__(meta, name, bases, body)
        cls._member_map_ = {}
        cls._value2member_map_ = {}
        mixed = None
        for base in bases:
            for b in base.__mro__:
                if b in (int, str, float):
                    mixed = b
        flag = any(getattr(b, "_is_flag_", False) for b in bases)
        count = 0
        for key, value in members.items():
            if isinstance(value, auto):
                if mixed is str or hasattr(cls, "_lower_auto_"):
                    value = key.lower()
                else:
                    value = 2 ** count if flag else (last + 1 if count else 1)
            last = value if isinstance(value, int) else count + 1
            count += 1
            known = None
            for other in cls._member_map_.values():
                if other._value_ == value and type(other._value_) is type(value):
                    known = other
            if known is not None:
                cls._member_map_[key] = known
                type.__setattr__(cls, key, known)
                continue
            if mixed is not None:
                member = mixed.__new__(cls, value)
            else:
                member = object.__new__(cls)
            member._value_ = value
            member._name_ = key
            member.__objclass__ = cls
            if "__init__" in body:
                member.__init__(*(value if isinstance(value, tuple) else (value,)))
            cls._member_map_[key] = member
            try:
                cls._value2member_map_[member._value_] = member
            except TypeError:
                pass
            type.__setattr__(cls, key, member)
        return cls

    def __call__(cls, value=None, *args, **kwargs):
        if not cls._member_map_ and isinstance(value, str) and args:
            names = args[0].replace(",", " ").split() if isinstance(args[0], str) else list(args[0])
            body = {}
            for i, n in enumerate(names):
                if isinstance(n, (list, tuple)):
                    body[n[0]] = n[1]
                else:
                    body[n] = i + 1
            return EnumMeta.__new__(EnumMeta, value, (cls,), body)
        for member in cls._member_map_.values():
            if member is value or member._value_ == value:
                return member
        found = cls._missing_(value)
        if found is not None:
            return found
        raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")

    def __iter__(cls):
        seen = []
        for member in cls._member_map_.values():
            if not any(member is s for s in seen):
                seen.append(member)
        return iter(seen)

    def __len__(cls):
        return len(cls._member_map_)

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __contains__(cls, value):
        return any(value is m or value == m._value_ for m in cls._member_map_.values())

    @property
    def __members__(cls):
        return dict(cls._member_map_)


EnumType = EnumMeta


class Enum(metaclass=EnumMeta):
    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    @classmethod
    def _missing_(cls, value):
        return None

    def __repr__(self):
        return f"<{self.__class__.__name__}.{self._name_}: {self._value_!r}>"

    def __str__(self):
        return f"{self.__class__.__name__}.{self._name_}"

    def __hash__(self):
        return hash(self._name_)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other


class IntEnum(int, Enum):
    def __str__(self):
        return str(self._value_)

    def __eq__(self, other):
        return self._value_ == (other._value_ if isinstance(other, Enum) else other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._value_)


class StrEnum(str, Enum):
    _lower_auto_ = True

    def __str__(self):
        return self._value_

    def __eq__(self, other):
        return self._value_ == (other._value_ if isinstance(other, Enum) else other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._value_)


class Flag(Enum):
    _is_flag_ = True

    def _combine(self, value):
        for m in self.__class__._member_map_.values():
            if m._value_ == value:
                return m
        member = object.__new__(self.__class__)
        member._value_ = value
        member._name_ = None
        return member

    def __or__(self, other):
        return self._combine(self._value_ | other._value_)

    def __and__(self, other):
        return self._combine(self._value_ & other._value_)

    def __contains__(self, other):
        return self._value_ & other._value_ == other._value_

    def __bool__(self):
        return bool(self._value_)


class IntFlag(Flag):
    pass


def unique(cls):
    return cls


class member:
    def __init__(self, value):
        self.value = value


nonmember = member
`,

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
        if len(values) > len(names):
            raise TypeError(f"{typename}.__new__() takes {len(names) + 1} positional arguments but "
                            f"{len(values) + 1} were given")
        for i in range(len(values), len(names)):
            if names[i] in kwargs:
                values.append(kwargs[names[i]])
            elif i >= first:
                values.append(defaults[i - first])
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

  argparse: `
class Namespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __contains__(self, key):
        return key in self.__dict__


class _Action:
    def __init__(self, dest, default):
        self.dest = dest
        self.default = default


class ArgumentParser:
    def __init__(self, *args, **kwargs):
        self._actions = []
        self._defaults = {}

    def add_argument(self, *names, **options):
        dest = options.get("dest")
        if dest is None:
            long = [n for n in names if n.startswith("--")]
            dest = (long[0] if long else names[0]).lstrip("-").replace("-", "_")
        action = options.get("action", "store")
        default = options.get("default")
        if default is None and action == "store_true":
            default = False
        if default is None and action == "store_false":
            default = True
        kind = options.get("type")
        if isinstance(default, str) and callable(kind):
            default = kind(default)
        made = _Action(dest, default)
        self._actions.append(made)
        return made

    def add_argument_group(self, *args, **kwargs):
        return self

    def add_mutually_exclusive_group(self, *args, **kwargs):
        return self

    def add_subparsers(self, *args, **kwargs):
        return self

    def add_parser(self, *args, **kwargs):
        return ArgumentParser()

    def set_defaults(self, **kwargs):
        self._defaults.update(kwargs)

    def parse_args(self, args=None, namespace=None):
        result = namespace or Namespace()
        for a in self._actions:
            if a.default != "==SUPPRESS==":
                setattr(result, a.dest, self._defaults.get(a.dest, a.default))
        for name, value in self._defaults.items():
            setattr(result, name, value)
        return result

    def parse_known_args(self, args=None, namespace=None):
        return self.parse_args(args, namespace), []

    def print_help(self):
        pass


SUPPRESS = "==SUPPRESS=="


class _Formatter:
    pass


ArgumentDefaultsHelpFormatter = HelpFormatter = RawTextHelpFormatter = RawDescriptionHelpFormatter = _Formatter


class BooleanOptionalAction:
    pass


class ArgumentTypeError(Exception):
    pass


FileType = str
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

  logging: `
DEBUG, INFO, WARNING, WARN, ERROR, CRITICAL, FATAL, NOTSET = 10, 20, 30, 30, 40, 50, 50, 0


class Logger:
    def __init__(self, name="root"):
        self.name = name
        self.handlers = []
        self.level = 30
        self.propagate = True

    def debug(self, *args, **kwargs):
        pass

    info = warning = warn = error = critical = exception = log = warning_once = debug

    def setLevel(self, level):
        self.level = level

    def getEffectiveLevel(self):
        return self.level

    def isEnabledFor(self, level):
        return False

    def addHandler(self, handler):
        pass

    def removeHandler(self, handler):
        pass

    def hasHandlers(self):
        return False

    def getChild(self, name):
        return Logger(name)


_loggers = {}


def getLogger(name="root"):
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]


def basicConfig(*args, **kwargs):
    pass


def debug(*args, **kwargs):
    pass


info = warning = warn = error = critical = exception = log = captureWarnings = disable = debug


class Handler:
    def __init__(self, *args, **kwargs):
        pass

    def setLevel(self, level):
        pass

    def setFormatter(self, formatter):
        pass


class StreamHandler(Handler):
    pass


class FileHandler(Handler):
    pass


class NullHandler(Handler):
    pass


class Formatter(Handler):
    pass
`,

  warnings: `
def warn(*args, **kwargs):
    pass


def simplefilter(*args, **kwargs):
    pass


filterwarnings = warn_explicit = resetwarnings = formatwarning = simplefilter


class catch_warnings:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return []

    def __exit__(self, *args):
        return None


def deprecated(*args, **kwargs):
    return lambda f: f
`,

  pathlib: `
class PurePath:
    def __init__(self, *parts):
        self._text = "/".join(str(p).rstrip("/") if str(p) != "/" else "" for p in parts) or "."

    def __truediv__(self, other):
        return self.__class__(self._text, other)

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"PosixPath({self._text!r})"

    def __fspath__(self):
        return self._text

    def __eq__(self, other):
        return isinstance(other, PurePath) and self._text == other._text

    def __hash__(self):
        return hash(self._text)

    @property
    def name(self):
        return self._text.split("/")[-1]

    @property
    def stem(self):
        return self.name.rsplit(".", 1)[0] if "." in self.name else self.name

    @property
    def suffix(self):
        return "." + self.name.rsplit(".", 1)[1] if "." in self.name else ""

    @property
    def parent(self):
        return self.__class__(self._text.rsplit("/", 1)[0] if "/" in self._text else ".")

    @property
    def parents(self):
        found = []
        p = self
        while p.parent != p and len(found) < 20:
            p = p.parent
            found.append(p)
        return found

    @property
    def parts(self):
        return tuple(self._text.split("/"))

    def joinpath(self, *parts):
        return self.__class__(self._text, *parts)

    def with_suffix(self, suffix):
        return self.parent / (self.stem + suffix)

    def as_posix(self):
        return self._text


class Path(PurePath):
    def exists(self):
        return False

    is_file = is_dir = exists

    def resolve(self, *args):
        return self

    absolute = expanduser = resolve

    def mkdir(self, *args, **kwargs):
        pass

    unlink = touch = mkdir

    def glob(self, pattern):
        return iter(())

    rglob = glob

    def iterdir(self):
        return iter(())

    def open(self, *args, **kwargs):
        return open(self._text)

    def read_text(self, *args, **kwargs):
        return open(self._text).read()

    @classmethod
    def cwd(cls):
        return cls(".")

    @classmethod
    def home(cls):
        return cls("~")


PosixPath = Path
`,
};

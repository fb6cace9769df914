// Python text of dataclasses and enum, run by the interpreter on first import.

export const DATACLASSES: Readonly<Record<string, string>> = {
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
    optional = None
    for f in listed:
        if isinstance(f.default, (list, dict, set)):
            raise ValueError(f"mutable default {type(f.default)} for field {f.name} is not allowed: use default_factory")
    for f in positional:
        if f.default is not MISSING or f.default_factory is not MISSING:
            optional = f
        elif optional is not None:
            raise TypeError(f"non-default argument {f.name!r} follows default argument")
    # a class's own __setattr__ sees its fields, unless instances are frozen
    keep = object.__setattr__ if frozen else setattr

    def __init__(self, *args, **kwargs):
        if len(args) > len(positional):
            raise TypeError(f"{cls.__name__}.__init__() takes {len(positional) + 1} positional arguments but "
                            f"{len(args) + 1} were given")
        # no local ever holds a value: locals name the nodes of a graph
        given = dict(zip([f.name for f in positional], args))
        for name in kwargs:
            if name not in found or not found[name].init:
                raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'")
            if name in given:
                raise TypeError(f"{cls.__name__}.__init__() got multiple values for argument '{name}'")
            given[name] = kwargs[name]
        missing = []
        extra = []
        for f in listed:
            if f.name in given:
                pass
            elif f.default is not MISSING:
                given[f.name] = f.default
            elif f.default_factory is not MISSING:
                given[f.name] = f.default_factory()
            elif f.init:
                missing.append(f.name)
                continue
            else:
                continue
            if f.init_only:
                extra.append(given[f.name])
            else:
                keep(self, f.name, given[f.name])
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


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, module=None, **options):
    body = dict(namespace or {})
    annotations = {}
    for item in fields:
        if isinstance(item, str):
            annotations[item] = "object"
        else:
            annotations[item[0]] = item[1]
            if len(item) > 2:
                body[item[0]] = item[2]
    body["__annotations__"] = annotations
    return dataclass(type(cls_name, tuple(bases), body), **options)
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
            # a class of elsewhere is a value like any other, and so is a function that something is bound to already
            kept = isinstance(value, type) and not value.__qualname__.endswith("." + key)
            kept = kept or type(value).__name__ == "partial"
            special = isinstance(value, (property, staticmethod, classmethod)) or (callable(value) and not kept)
            special = special or key.startswith("_") or (hasattr(value, "__get__") and not isinstance(value, auto))
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
        count = last = 0
        for key, value in members.items():
            if isinstance(value, auto):
                if mixed is str or hasattr(cls, "_lower_auto_"):
                    value = key.lower()
                else:
                    value = 2 ** count if flag else last + 1
            if isinstance(value, int):
                last = value
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
};

// Python text of the library attrs, as far as module and configuration classes lean on it: said in terms of dataclasses.

const ATTRS = `
import dataclasses
from dataclasses import FrozenInstanceError

NOTHING = dataclasses.MISSING


class Factory:
    def __init__(self, factory, takes_self=False):
        self.factory = factory
        self.takes_self = takes_self


def ib(default=NOTHING, validator=None, repr=True, eq=None, order=None, hash=None, init=True, metadata=None, type=None,
       converter=None, factory=None, kw_only=False, on_setattr=None, alias=None, cmp=None):
    if isinstance(default, Factory):
        factory, default = default.factory, NOTHING
    made = dataclasses.field(default=default, default_factory=NOTHING if factory is None else factory, init=init,
                             repr=bool(repr), metadata=metadata, kw_only=kw_only)
    made.converter = converter
    made.wanted = type
    return made


attrib = attr = field = ib


def _annotate(cls, auto):
    own = [(n, v) for n, v in cls.__dict__.items() if isinstance(v, dataclasses.Field)]
    written = dict(cls.__dict__.get("__annotations__", {}))
    if auto is None:
        auto = all(n in written for n, v in own)
    if auto:
        kept = written
    else:
        kept = {}
        for n, v in own:
            kept[n] = written.get(n, v.wanted)
    for n, v in own:
        kept.setdefault(n, v.wanted)
    cls.__annotations__ = kept


def _converted(cls):
    converters = {f.name: f.converter for f in cls.__dataclass_fields__.values() if getattr(f, "converter", None)}
    after = getattr(cls, "__attrs_post_init__", None)

    def __post_init__(self, *extra):
        for name, convert in converters.items():
            object.__setattr__(self, name, convert(getattr(self, name)))
        if after is not None:
            after(self)

    if converters or after is not None:
        cls.__post_init__ = __post_init__
    return cls


def _decorator(auto):
    def decorate(maybe_cls=None, *, auto_attribs=auto, init=True, repr=None, eq=None, order=None, frozen=False,
                 kw_only=False, slots=False, **more):
        def wrap(cls):
            _annotate(cls, auto_attribs)
            written = cls.__dict__
            said = {"repr": "__repr__" not in written if repr is None else repr, "eq": False if eq is None else eq}
            made = dataclasses.dataclass(init=init, order=bool(order), frozen=frozen, kw_only=kw_only, **said)(cls)
            made.__attrs_attrs__ = tuple(made.__dataclass_fields__.values())
            return _converted(made)
        return wrap if maybe_cls is None else wrap(maybe_cls)
    return decorate


s = attrs = attributes = _decorator(False)
dataclass = _decorator(True)
define = mutable = _decorator(None)


def frozen(maybe_cls=None, **options):
    return define(maybe_cls, frozen=True, **options)


def fields(cls):
    return dataclasses.fields(cls)


def has(cls):
    return hasattr(cls, "__attrs_attrs__")


def asdict(inst, recurse=True, filter=None, dict_factory=dict, **more):
    return dataclasses.asdict(inst, dict_factory=dict_factory)


def astuple(inst, **more):
    return dataclasses.astuple(inst)


def evolve(inst, **changes):
    return dataclasses.replace(inst, **changes)


assoc = evolve


class _Checks:
    # what only refuses values: any is taken
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


validators = _Checks()
setters = _Checks()


class converters:
    @staticmethod
    def optional(convert):
        return lambda v: None if v is None else convert(v)

    @staticmethod
    def default_if_none(default=None, factory=None):
        return lambda v: (default if factory is None else factory()) if v is None else v
`;

export const ATTRS_LIBRARY: Readonly<Record<string, string>> = { attr: ATTRS, attrs: ATTRS };

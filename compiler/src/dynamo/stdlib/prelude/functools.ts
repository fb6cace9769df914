// Python text of functools and contextlib, run by the interpreter on first import.

export const FUNCTOOLS: Readonly<Record<string, string>> = {
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
    for element in it:
        value = function(value, element)
    return value


class CacheInfo:
    def __init__(self, hits, misses, maxsize, currsize):
        self.hits, self.misses, self.maxsize, self.currsize = hits, misses, maxsize, currsize

    def __iter__(self):
        return iter((self.hits, self.misses, self.maxsize, self.currsize))

    def __repr__(self):
        return "CacheInfo(hits=%d, misses=%d, maxsize=%r, currsize=%d)" % tuple(self)


def lru_cache(maxsize=128, typed=False):
    def decorate(user_function):
        store = {}
        counts = [0, 0]

        def wrapper(*args, **kwargs):
            key = (args, tuple(sorted(kwargs.items())))
            try:
                if key in store:
                    counts[0] += 1
                    return store[key]
            except TypeError:
                return user_function(*args, **kwargs)
            counts[1] += 1
            result = user_function(*args, **kwargs)
            store[key] = result
            return result

        def cache_clear():
            store.clear()
            counts[:] = [0, 0]

        wrapper.cache_clear = cache_clear
        wrapper.cache_info = lambda: CacheInfo(*counts, None if callable(maxsize) else maxsize, len(store))
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
    def own(name):
        return any(name in c.__dict__ for c in cls.__mro__ if c is not object)

    given = [own(name) for name in ("__lt__", "__le__", "__gt__", "__ge__")]

    def less(a, b):
        if given[0]:
            return a.__lt__(b)
        if given[1]:
            return a.__le__(b) and a != b
        if given[2]:
            return not (a.__gt__(b) or a == b)
        return not a.__ge__(b)

    if not any(given):
        raise ValueError("must define at least one ordering operation: < > <= >=")
    derived = (
        ("__lt__", less),
        ("__le__", lambda a, b: less(a, b) or a == b),
        ("__gt__", lambda a, b: not (less(a, b) or a == b)),
        ("__ge__", lambda a, b: not less(a, b)),
    )
    for (name, compare), has in zip(derived, given):
        if not has:
            setattr(cls, name, compare)
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
};

// Python text of six: what code that is written for Python 2 as well calls, as it is in Python 3.

export const SIX: Readonly<Record<string, string>> = {
  six: `
import builtins
import functools
import io
import operator

PY2, PY3, PY34 = False, True, True
MAXSIZE = 9223372036854775807
string_types, integer_types, class_types = (str,), (int,), (type,)
text_type, binary_type = str, bytes
StringIO, BytesIO = io.StringIO, io.BytesIO


def iteritems(d, **kwargs):
    return iter(d.items(**kwargs))


def iterkeys(d, **kwargs):
    return iter(d.keys(**kwargs))


def itervalues(d, **kwargs):
    return iter(d.values(**kwargs))


viewitems, viewkeys, viewvalues = (operator.methodcaller(n) for n in ("items", "keys", "values"))


advance_iterator = next = builtins.next
callable = builtins.callable


def u(text):
    return text


def b(text):
    return text.encode("latin-1")


def ensure_str(text, encoding="utf-8", errors="strict"):
    return text if isinstance(text, str) else text.decode(encoding, errors)


ensure_text = ensure_str


def ensure_binary(text, encoding="utf-8", errors="strict"):
    return text if isinstance(text, bytes) else text.encode(encoding, errors)


def with_metaclass(meta, *bases):
    return meta("temporary_class", bases or (object,), {})


def add_metaclass(meta):
    def wrap(cls):
        names = {k: v for k, v in cls.__dict__.items() if k not in ("__dict__", "__weakref__")}
        return meta(cls.__name__, cls.__bases__, names)
    return wrap


def python_2_unicode_compatible(cls):
    return cls


def raise_from(value, cause):
    raise value from cause


wraps = functools.wraps
`,
  "six.moves": `
import builtins
import functools
import io
import itertools

range = xrange = builtins.range
zip, map, filter = builtins.zip, builtins.map, builtins.filter
input = raw_input = builtins.input
reduce, zip_longest = functools.reduce, itertools.zip_longest
StringIO = cStringIO = io.StringIO
`,
};

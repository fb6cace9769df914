// Python text of what programs around a model use: argparse, logging, warnings and pathlib, run by the interpreter on first import.

export const PROGRAMS: Readonly<Record<string, string>> = {
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


def _likely(options):
    # what has to be given is the first of what may be given
    if options.get("nargs") in ("?", "*"):
        return None
    choices, words = options.get("choices"), options.get("help")
    if choices:
        return next(iter(choices))
    if isinstance(words, str) and "|" in words:
        before = words.split("|")[0].split()
        return before[-1].strip("([{<:'") if before else None
    return None


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
        if default is None and (options.get("required") or not names[0].startswith("-")):
            default = _likely(options)
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

  logging: `
DEBUG, INFO, WARNING, WARN, ERROR, CRITICAL, FATAL, NOTSET = 10, 20, 30, 30, 40, 50, 50, 0


class Logger:
    def __init__(self, name="root"):
        self.name = name
        self.handlers = []
        self.level = 30
        self.propagate = True

    def __repr__(self):
        return f"<Logger {self.name} (WARNING)>"

    def debug(self, *args, **kwargs):
        pass

    def info(self, *args, **kwargs):
        pass

    def warning(self, *args, **kwargs):
        pass

    def error(self, *args, **kwargs):
        pass

    def critical(self, *args, **kwargs):
        pass

    def exception(self, *args, **kwargs):
        pass

    def log(self, *args, **kwargs):
        pass

    warn = warning
    warning_once = warning
    fatal = critical

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


class LoggerAdapter(Logger):
    def __init__(self, logger, extra=None, merge_extra=False):
        super().__init__(getattr(logger, "name", "root"))
        self.logger, self.extra = logger, extra


_loggers = {}


def getLogger(name="root"):
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]


def basicConfig(*args, **kwargs):
    pass


def debug(*args, **kwargs):
    pass


info = warning = warn = error = critical = fatal = exception = log = captureWarnings = disable = debug


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

  io: `
class StringIO:
    newline = "\\n"
    empty = ""

    def __init__(self, text=None, newline=None):
        self._text = self.empty if text is None else text
        self._at = 0
        self.closed = False

    def read(self, size=-1):
        stop = len(self._text) if size is None or size < 0 else self._at + size
        part = self._text[self._at:stop]
        self._at = min(stop, len(self._text))
        return part

    def readline(self, size=-1):
        end = self._text.find(self.newline, self._at)
        return self.read(-1 if end < 0 else end + 1 - self._at)

    def readlines(self, hint=-1):
        return list(self)

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def write(self, text):
        if isinstance(text, type(self.empty)):
            self._text += text
        self._at = len(self._text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def getvalue(self):
        return self._text

    getbuffer = getvalue

    def seek(self, offset, whence=0):
        self._at = offset
        return offset

    def tell(self):
        return self._at

    def flush(self):
        pass

    def close(self):
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.closed = True


class BytesIO(StringIO):
    newline = b"\\n"
    empty = b""


class IOBase:
    pass


TextIOBase = TextIOWrapper = RawIOBase = BufferedReader = BufferedIOBase = IOBase
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
`,

  pathlib: `
import os


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
        return os.path.exists(self._text)

    def is_file(self):
        return os.path.isfile(self._text)

    def is_dir(self):
        return os.path.isdir(self._text)

    def resolve(self, *args):
        return self

    absolute = expanduser = resolve

    def mkdir(self, *args, **kwargs):
        os.makedirs(self._text)

    def touch(self, *args, **kwargs):
        pass

    unlink = touch

    def glob(self, pattern):
        import glob
        return iter([self.__class__(p) for p in glob.glob(self._text + "/" + pattern)])

    def rglob(self, pattern):
        return self.glob("**/" + pattern)

    def iterdir(self):
        return iter([self / name for name in os.listdir(self._text)])

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

// Python texts of configparser, sections of options that INI files of the project hold, and of shlex, which takes lines apart.

export const CONFIGPARSER: Readonly<Record<string, string>> = {
  configparser: `
import builtins


class Error(Exception):
    pass


class NoSectionError(Error):
    def __init__(self, section):
        super().__init__(f"No section: {section!r}")
        self.section = section


class DuplicateSectionError(Error):
    def __init__(self, section):
        super().__init__(f"Section {section!r} already exists")


class NoOptionError(Error):
    def __init__(self, option, section):
        super().__init__(f"No option {option!r} in section: {section!r}")
        self.option, self.section = option, section


_UNSET = object()
_TRUE = ("1", "yes", "true", "on")
_FALSE = ("0", "no", "false", "off")


class Interpolation:
    pass


class BasicInterpolation(Interpolation):
    pass


class ExtendedInterpolation(Interpolation):
    pass


class SectionProxy:
    def __init__(self, parser, name):
        self.parser, self.name = parser, name

    def _options(self):
        return self.parser.options(self.name)

    def __getitem__(self, key):
        if not self.parser.has_option(self.name, key):
            raise KeyError(key)
        return self.parser.get(self.name, key)

    def __setitem__(self, key, value):
        self.parser.set(self.name, key, value)

    def __delitem__(self, key):
        if not self.parser.remove_option(self.name, key):
            raise KeyError(key)

    def __contains__(self, key):
        return self.parser.has_option(self.name, key)

    def __iter__(self):
        return iter(self._options())

    def __len__(self):
        return len(self._options())

    def keys(self):
        return self._options()

    def items(self):
        return [(k, self.parser.get(self.name, k)) for k in self._options()]

    def values(self):
        return [v for _, v in self.items()]

    def get(self, option, fallback=None, **kwargs):
        return self.parser.get(self.name, option, fallback=fallback)

    def getint(self, option, fallback=None, **kwargs):
        return self.parser.getint(self.name, option, fallback=fallback)

    def getfloat(self, option, fallback=None, **kwargs):
        return self.parser.getfloat(self.name, option, fallback=fallback)

    def getboolean(self, option, fallback=None, **kwargs):
        return self.parser.getboolean(self.name, option, fallback=fallback)


class RawConfigParser:
    def __init__(self, defaults=None, dict_type=dict, allow_no_value=False, *, default_section="DEFAULT", **kwargs):
        self.default_section = default_section
        self._defaults = {}
        self._sections = {}
        for key, value in (defaults or {}).items():
            self._defaults[self.optionxform(key)] = value

    def optionxform(self, option):
        return option.lower()

    def defaults(self):
        return self._defaults

    def sections(self):
        return list(self._sections)

    def add_section(self, section):
        if section in self._sections:
            raise DuplicateSectionError(section)
        self._sections[section] = {}

    def has_section(self, section):
        return section in self._sections

    def remove_section(self, section):
        return self._sections.pop(section, None) is not None

    def _all(self, section):
        if section == self.default_section:
            return self._defaults
        if section not in self._sections:
            raise NoSectionError(section)
        own = self._sections[section]
        return {**own, **{k: v for k, v in self._defaults.items() if k not in own}}

    def options(self, section):
        return list(self._all(section))

    def has_option(self, section, option):
        known = section == self.default_section or section in self._sections
        return known and self.optionxform(option) in self._all(section)

    def remove_option(self, section, option):
        return self._sections[section].pop(self.optionxform(option), _UNSET) is not _UNSET

    def set(self, section, option, value=None):
        if section == self.default_section:
            self._defaults[self.optionxform(option)] = value
        elif section in self._sections:
            self._sections[section][self.optionxform(option)] = value
        else:
            raise NoSectionError(section)

    def get(self, section, option, *, raw=False, vars=None, fallback=_UNSET):
        if section != self.default_section and section not in self._sections:
            if fallback is not _UNSET:
                return fallback
            raise NoSectionError(section)
        name = self.optionxform(option)
        known = {**self._all(section), **{self.optionxform(k): v for k, v in (vars or {}).items()}}
        if name in known:
            return known[name]
        if fallback is _UNSET:
            raise NoOptionError(option, section)
        return fallback

    def _converted(self, convert, section, option, fallback, kwargs):
        if fallback is not _UNSET and not self.has_option(section, option):
            return fallback
        return convert(self.get(section, option, **kwargs))

    def getint(self, section, option, *, fallback=_UNSET, **kwargs):
        return self._converted(int, section, option, fallback, kwargs)

    def getfloat(self, section, option, *, fallback=_UNSET, **kwargs):
        return self._converted(float, section, option, fallback, kwargs)

    def getboolean(self, section, option, *, fallback=_UNSET, **kwargs):
        return self._converted(self._convert_to_boolean, section, option, fallback, kwargs)

    def _convert_to_boolean(self, value):
        if value.lower() not in _TRUE + _FALSE:
            raise ValueError(f"Not a boolean: {value}")
        return value.lower() in _TRUE

    def items(self, section=_UNSET, **kwargs):
        if section is _UNSET:
            return [(name, self[name]) for name in self]
        return list(self._all(section).items())

    def read(self, filenames, encoding=None):
        done = []
        for name in [filenames] if isinstance(filenames, str) or not hasattr(filenames, "__iter__") else filenames:
            try:
                with builtins.open(name) as f:
                    self.read_file(f)
            except OSError:
                continue
            done.append(name)
        return done

    def read_file(self, f, source=None):
        self.read_string(f.read())

    def read_string(self, string, source=None):
        section = option = None
        for line in string.split("\\n"):
            text = line.strip()
            if not text or text[0] in "#;":
                continue
            if text[0] == "[" and "]" in text:
                section, option = text[1:text.index("]")], None
                if section != self.default_section and section not in self._sections:
                    self._sections[section] = {}
            elif line[0] in " \\t" and option is not None:
                self.set(section, option, f"{self.get(section, option)}\\n{text}")
            else:
                ends = [text.index(c) for c in "=:" if c in text]
                at = min(ends) if ends else len(text)
                option = text[:at].strip()
                self.set(section, option, text[at + 1:].strip() if ends else None)

    def read_dict(self, dictionary, source=None):
        for section, options in dictionary.items():
            if section != self.default_section and section not in self._sections:
                self._sections[section] = {}
            for key, value in options.items():
                self.set(section, key, None if value is None else str(value))

    def write(self, f, space_around_delimiters=True):
        pass

    def __getitem__(self, section):
        if section != self.default_section and section not in self._sections:
            raise KeyError(section)
        return SectionProxy(self, section)

    def __setitem__(self, section, options):
        self._sections.pop(section, None)
        self.read_dict({section: options})

    def __contains__(self, section):
        return section == self.default_section or section in self._sections

    def __iter__(self):
        return iter([self.default_section, *self._sections])

    def __len__(self):
        return len(self._sections) + 1


class ConfigParser(RawConfigParser):
    pass


SafeConfigParser = ConfigParser
`,
  shlex: `
class shlex:
    def __init__(self, instream="", infile=None, posix=False, punctuation_chars=False):
        self.instream, self.posix = instream, posix
        self.whitespace, self.quotes, self.commenters, self.escape = " \\t\\r\\n", "'\\"", "#", "\\\\"
        self.whitespace_split = False
        self._tokens = None

    def _read(self):
        text = self.instream if isinstance(self.instream, str) else self.instream.read()
        tokens, token, quote, i = [], None, None, 0
        while i < len(text):
            c = text[i]
            i += 1
            if quote is not None:
                if c == quote:
                    quote = None
                    token += "" if self.posix else c
                elif c in self.escape and self.posix and quote == '"' and i < len(text):
                    token, i = token + text[i], i + 1
                else:
                    token += c
            elif c in self.whitespace:
                if token is not None:
                    tokens.append(token)
                token = None
            elif c in self.commenters:
                end = text.find("\\n", i)
                i = len(text) if end < 0 else end
            elif c in self.quotes:
                quote, token = c, (token or "") + ("" if self.posix else c)
            elif c in self.escape and self.posix and i < len(text):
                token, i = (token or "") + text[i], i + 1
            else:
                token = (token or "") + c
        if quote is not None:
            raise ValueError("No closing quotation")
        return tokens if token is None else [*tokens, token]

    def get_token(self):
        if self._tokens is None:
            self._tokens = self._read()
        return self._tokens.pop(0) if self._tokens else None

    def __iter__(self):
        return self

    def __next__(self):
        token = self.get_token()
        if token is None:
            raise StopIteration
        return token


def split(s, comments=False, posix=True):
    lex = shlex(s, posix=posix)
    lex.whitespace_split = True
    if not comments:
        lex.commenters = ""
    return list(lex)


def quote(s):
    plain = all(c.isalnum() or c in "@%+=:,./-_" for c in s)
    return s if s and plain else "'" + s.replace("'", "'\\"'\\"'") + "'"


def join(words):
    return " ".join(quote(w) for w in words)
`,
};

"""Generated code as a module, so that Triton finds its source without a file."""

import linecache
import types


def load(text, name):
    """Runs `text` as a module called `name`. triton.jit reads a function's source back through linecache."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = types.ModuleType(name)
    module.__file__ = filename
    exec(compile(text, filename, "exec"), module.__dict__)
    return module

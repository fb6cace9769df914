"""Compiles every kernel of standalone output code for an H100, without a GPU and without PyTorch.

usage: compile_check.py DIR [--cache DIR] [--jobs 2] [--all-configs]

DIR holds standalone output codes (*.py). Prints "N kernels of M graphs compiled, K failed", and what failed. A file that
compiled before, with this runtime and this Triton, is not compiled again.
"""

import argparse
import hashlib
import importlib.util
import multiprocessing
import os
import pathlib
import sys
import traceback
import types

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = HERE.parent.parent / "gpu-worker" / "python"


class Stub(types.ModuleType):
    """Stands for torch: attributes exist, and nothing of it is ever called while kernels are only compiled."""

    def __init__(self, name):
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(f"{self.__name__}.{name}")

    def __call__(self, *args, **kwargs):
        return Stub(self.__name__)


def stub_torch():
    if "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
        for name in ("torch", "torch.cuda"):
            sys.modules[name] = Stub(name)


def compile_kernel(kernel, config):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    constants = dict(config.kwargs)
    for name, kind in kernel.signature.items():
        if kind == "constexpr" and name not in constants:
            constants[name] = 1
    attrs = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(kernel.signature.values()) if kind.startswith("*")}
    source = ASTSource(fn=kernel.fn, signature=dict(kernel.signature), constexprs=constants, attrs=attrs)
    options = {"num_warps": config.num_warps, "num_stages": config.num_stages}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)


def check_file(task):
    path, marker, every = task
    sys.path.insert(0, str(RUNTIME))
    stub_torch()
    from fuselens_runtime.heuristics import Kernel

    spec = importlib.util.spec_from_file_location(f"output_code_{pathlib.Path(path).stem}", path)
    module = importlib.util.module_from_spec(spec)
    failures, count = [], 0
    try:
        spec.loader.exec_module(module)
    except Exception:
        return path, 0, [("module", traceback.format_exc(limit=3))]
    for name, kernel in vars(module).items():
        if not isinstance(kernel, Kernel):
            continue
        count += 1
        for config in kernel.configs if every else kernel.configs[:1]:
            try:
                compile_kernel(kernel, config)
            except Exception as error:
                failures.append((f"{name} {config}", f"{type(error).__name__}: {error}"))
                break
    if not failures:
        pathlib.Path(marker).write_text(str(count))
    return path, count, failures


def fingerprint():
    import triton

    text = triton.__version__ + pathlib.Path(__file__).read_text()
    for f in sorted((RUNTIME / "fuselens_runtime").glob("*.py")):
        text += f.read_text()
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--cache", default=str(HERE.parent.parent / ".cache" / "triton-check"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all-configs", action="store_true")
    options = parser.parse_args()
    cache = pathlib.Path(options.cache)
    cache.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("TRITON_CACHE_DIR", str(cache / "triton"))
    base = fingerprint() + str(options.all_configs)
    kernels = graphs = failed = 0
    tasks = []
    for path in sorted(pathlib.Path(options.folder).glob("*.py")):
        graphs += 1
        marker = cache / hashlib.sha256((base + path.read_text()).encode()).hexdigest()
        if marker.exists():
            kernels += int(marker.read_text())
        else:
            tasks.append((str(path), str(marker), options.all_configs))
    context = multiprocessing.get_context("spawn")
    with context.Pool(options.jobs, maxtasksperchild=16) as pool:
        for path, count, failures in pool.imap_unordered(check_file, tasks):
            kernels += count
            failed += len(failures)
            for name, message in failures:
                print(f"{pathlib.Path(path).name}: {name}\n{message}\n")
    print(f"{kernels} kernels of {graphs} graphs compiled, {failed} failed")
    return 1 if failed or not graphs else 0


if __name__ == "__main__":
    sys.exit(main())

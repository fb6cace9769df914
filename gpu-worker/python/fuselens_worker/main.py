"""The Triton executor: one process per GPU, driven by the worker over pipes.

usage: main.py [--compile-processes N], with TRITON_CACHE_DIR

In: one JSON object a line on stdin. Out: one JSON object a line on file descriptor 3. Runs generated output code only,
in this process; whatever that code prints goes to stderr. A fault of the GPU ends the process, never the worker. Kernels are
compiled in N processes at once (compile_server.py; 0: in this one, as they are launched) and kept in TRITON_CACHE_DIR.
"""

import argparse
import importlib
import json
import os
import re
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

OUT = os.fdopen(3, "w", buffering=1)
# oldest versions that have the interfaces which the runtime and the measurements use
LEAST = {"torch": (2, 4), "triton": (3, 0)}
SCHEMA = {"kind": str, "standalone": str, "seconds": (int, float), "min_runs": int, "per_kernel": bool, "against": list, "kernels": list, "launches": list}


def send(**message):
    OUT.write(json.dumps(message) + "\n")
    OUT.flush()


def check(job):
    for key, kind in SCHEMA.items():
        if not isinstance(job.get(key), kind):
            raise ValueError(f"{key} is missing or of the wrong type")
    if job["kind"] != "benchmark":
        raise ValueError(f"no job of kind {job['kind']!r}")


def error_code(error):
    import torch

    name = type(error).__name__
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return "out-of-memory"
    if "CompilationError" in name or "Triton" in name:
        return "compile-failed"
    if "CUDA error" in str(error) or isinstance(error, torch.AcceleratorError if hasattr(torch, "AcceleratorError") else ()):
        return "kernel-fault"
    return "unsupported" if isinstance(error, NotImplementedError) else "internal"


def problem():
    """What keeps this Python from serving a GPU, with what mends it; None where nothing does."""
    if sys.version_info < (3, 9):
        return f"{sys.executable} is Python {sys.version.split()[0]}; 3.9 or newer is needed"
    for name, least in LEAST.items():
        try:
            module = importlib.import_module(name)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            return f"{sys.executable} has no working {name} ({said}); run '{sys.executable} -m pip install torch triton', or name another Python with --python"
        version = str(getattr(module, "__version__", "0"))
        if tuple(int(n) for n in re.findall(r"\d+", version)[:2]) < least:
            return f"{sys.executable} has {name} {version}; {'.'.join(map(str, least))} or newer is needed: run '{sys.executable} -m pip install -U torch triton'"
    import torch

    if not torch.cuda.is_available():
        return f"torch {torch.__version__} of {sys.executable} sees no GPU: nvidia-smi shows whether the driver does, and torch.version.cuda (here {torch.version.cuda}) whether this torch was built for it"
    return None


def main():
    from fuselens_worker.compilers import Compilers, default_processes

    parser = argparse.ArgumentParser()
    parser.add_argument("--compile-processes", type=int, default=default_processes())
    compilers = Compilers(parser.parse_args().compile_processes)  # loads Triton while this process does
    said = problem()
    if said is None:
        try:
            import torch
            from fuselens_worker import benchmark, device, kernel_cache

            kernel_cache.mark_uses()
            compilers.use_target(device.target())
            described = device.describe()
        except Exception as error:
            said = f"the GPU can't be used: {type(error).__name__}: {error}"[:2000]
    if said is not None:
        send(kind="unavailable", message=f"the Triton executor can't start: {said}")
        return 1
    send(kind="ready", device=described)
    cache = kernel_cache.Trimmer(os.environ.get("TRITON_CACHE_DIR"))
    cache.trim()
    for line in sys.stdin:
        try:
            job = json.loads(line)
            check(job)
            say = lambda done, total, text: send(kind="progress", done=done, total=total, text=text)
            result = benchmark.run(job, say, compilers)
            send(kind="result", result=result)
        except Exception as error:
            code = error_code(error)
            send(kind="failed", code=code, message=f"{type(error).__name__}: {error}"[:4000], detail=traceback.format_exc()[-4000:])
            if code == "kernel-fault":
                return 1  # the CUDA context is poisoned: a new process starts clean
        torch.cuda.empty_cache()
        cache.trim()
    return 0


if __name__ == "__main__":
    sys.exit(main())

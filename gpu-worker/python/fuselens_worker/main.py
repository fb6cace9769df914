"""The Triton executor: one process per GPU, driven by the worker over pipes.

In: one JSON object a line on stdin. Out: one JSON object a line on file descriptor 3. Runs generated output code only,
in this process; whatever that code prints goes to stderr. A fault of the GPU ends the process, never the worker.
"""

import json
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

OUT = os.fdopen(3, "w", buffering=1)
SCHEMA = {"kind": str, "standalone": str, "seconds": (int, float), "min_runs": int, "per_kernel": bool, "against": list, "kernels": list}


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


def main():
    try:
        import torch
        from fuselens_worker import benchmark, device

        send(kind="ready", device=device.describe())
    except Exception as error:  # torch or triton missing, or no GPU: the worker reports it in one line
        sys.stderr.write(f"fuselens: the Triton executor can't start: {type(error).__name__}: {error}\n")
        return 1
    for line in sys.stdin:
        try:
            job = json.loads(line)
            check(job)
            result = benchmark.run(job, lambda done, total, text: send(kind="progress", done=done, total=total, text=text))
            send(kind="result", result=result)
        except Exception as error:
            code = error_code(error)
            send(kind="failed", code=code, message=f"{type(error).__name__}: {error}"[:4000], detail=traceback.format_exc()[-4000:])
            if code == "kernel-fault":
                return 1  # the CUDA context is poisoned: a new process starts clean
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())

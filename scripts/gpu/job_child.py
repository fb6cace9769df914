"""Runs jobs, whose paths it reads from stdin; prints `ROW <JSON>` a job: whether it ran, and how it compares with eager PyTorch.

`worst` is the largest error in units of the tolerance: |difference| / (|reference| + mean |reference|) over 2e-3 for
float32 and float64, 3e-2 for halves, 0.15 for float8; for integers and booleans 1 plus the number of elements that differ.
Where that exceeds 1, `compile_worst` is the same for torch.compile on the same inputs; and where all results are floating,
`norm` and `compile_norm` are how far both are from the graph in float64, as |difference| / |float64|: sums by atomic adds
change from run to run, and so do their largest errors.
"""

import json
import pathlib
import sys
import traceback

import common  # noqa: F401  puts the packages on the path

RELATIVE = {"torch.float32": 2e-3, "torch.float64": 2e-3, "torch.float16": 3e-2, "torch.bfloat16": 3e-2}


def worst(ours, reference):
    import torch

    from fuselens_worker.benchmark import largest_error

    most = 0.0
    for a, b in zip(ours, reference, strict=True):
        if not isinstance(b, torch.Tensor) or not isinstance(a, torch.Tensor) or not b.numel():
            continue
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
        if b.is_floating_point() or b.is_complex():
            most = max(most, largest_error([a], [b]) / RELATIVE.get(str(b.dtype), 0.15 if "float8" in str(b.dtype) else 2e-3))
        else:
            differ = int((a != b).sum())
            most = max(most, 1 + differ if differ else 0)
    return most


def as_list(x):
    return list(x) if isinstance(x, (tuple, list)) else [x]


def norm(ours, exact):
    """Largest |difference| / |float64| of all results; None where one is not floating."""
    import torch

    pairs = [(a, b) for a, b in zip(ours, exact, strict=True) if isinstance(b, torch.Tensor)]
    if not all(b.is_floating_point() for _, b in pairs):
        return None
    return max(((a.double() - b.double()).norm() / b.double().norm().clamp(min=1e-300)).item() for a, b in pairs)


def norms(ours, theirs, exact):
    """`norm` and `compile_norm` of a row; nothing where the graph has no float64 form."""
    try:
        reference = exact()
    except Exception:
        return {}
    return {"norm": norm(ours, reference), "compile_norm": norm(theirs, reference)}


def graph(job):
    import torch

    from training import wide

    from fuselens_worker.benchmark import fill, fresh, largest_error, load, names_of

    code = load(job["standalone"], "fuselens_output_code")
    eager = load(job["eager"], "fuselens_eager").forward if job.get("eager") else None
    args = fill(code.get_args(), names_of(eager), job.get("distinct", False))
    ours = code.call(fresh(args))
    torch.cuda.synchronize()
    if eager is None:
        return {}
    with torch.no_grad():
        reference = as_list(eager(*fresh(args)))
        row = {"largest": largest_error(ours, reference), "worst": worst(ours, reference)}
        if row["worst"] > 1:
            theirs = as_list(torch.compile(eager)(*fresh(args)))
            row["compile_worst"] = worst(theirs, reference)
            row.update(norms(ours, theirs, lambda: as_list(eager(*wide(fresh(args))))))
    return row


def step(job):
    import torch
    from training import Step, leaves

    from fuselens_worker.benchmark import fresh, load

    s = Step(job, "fuselens")
    args = s.args(job.get("eager"))
    results, grads = s.run(fresh(args))
    torch.cuda.synchronize()
    if not job.get("eager"):
        return {}
    wanted = [g is not None for g in grads]
    forward = load(job["eager"], "fuselens_eager").forward

    def compare(f):
        a = leaves(args, wanted)
        expected, gradients = s.rival(f, wanted)(a)
        return [e.detach() for e in expected], [g for g in gradients if g is not None]

    mine = [g for g, w in zip(grads, wanted) if w]
    expected, gradients = compare(forward)
    row = {"worst": max(worst(results, expected), worst(mine, gradients))}
    if row["worst"] > 1:
        other, theirs = compare(torch.compile(forward))
        row["compile_worst"] = max(worst(other, expected), worst(theirs, gradients))
        row.update(norms([*results, *mine], [*other, *theirs], lambda: s.exact(forward, leaves(args, wanted), wanted)))
    return row


def main():
    for line in sys.stdin:
        job = json.loads(pathlib.Path(line.strip()).read_text())
        row = {"name": job["name"], "ok": True, "random": job.get("random", False)}
        try:
            import torch

            torch._dynamo.reset()
            row.update(step(job) if job["kind"] == "step" else graph(job))
        except Exception as error:
            row = {"name": job["name"], "ok": False, "error": f"{type(error).__name__}: {error}"[:600], "trace": traceback.format_exc()[-1500:]}
        print("ROW " + json.dumps(row), flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()

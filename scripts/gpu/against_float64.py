"""How far generated code, torch.compile and eager PyTorch are from the same graph in float64, over several runs.

usage: against_float64.py JOB.json... [--runs 5]

Jobs are of scripts/gpu/make_jobs.mjs. Per run and side the largest error over results and gradients, in units of the
tolerance of job_child.py (`worst`) and as |difference| / |float64| (`norm`); all on the same inputs, so that what changes
from run to run is the order of atomic adds.
"""

import argparse
import json
import pathlib

import job_child
import torch


def sides_of(job):
    """{side: function that gives results and gradients}, float64 among them."""
    from training import Step, leaves, wide

    from fuselens_worker.benchmark import fill, fresh, load, names_of

    eager = load(job["eager"], "eager").forward
    compiled = torch.compile(eager)
    if job["kind"] != "step":
        code = load(job["standalone"], "ours")
        args = fill(code.get_args(), names_of(eager), job.get("distinct", False))
        plain = lambda f, a: job_child.as_list(f(*a))
        return {
            "float64": lambda: plain(eager, wide(args)),
            "ours": lambda: job_child.as_list(code.call(fresh(args))),
            "compile": lambda: plain(compiled, fresh(args)),
            "eager": lambda: plain(eager, fresh(args)),
        }
    step = Step(job, "ours")
    args = step.args(job["eager"])
    wanted = [g is not None for g in step.run(fresh(args))[1]]

    def flat(pair):
        results, gradients = pair
        return [r.detach() for r in results] + [g for g in gradients if g is not None]

    return {
        "float64": lambda: step.exact(eager, leaves(args, wanted), wanted),
        "ours": lambda: flat(step.run(fresh(args))),
        "compile": lambda: flat(step.rival(compiled, wanted)(leaves(args, wanted))),
        "eager": lambda: flat(step.rival(eager, wanted)(leaves(args, wanted))),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs", nargs="+", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for path in options.jobs:
        torch._dynamo.reset()
        sides = sides_of(json.loads(path.read_text()))
        exact = sides.pop("float64")()
        for _ in range(options.runs):
            row = {"name": path.stem}
            for name, side in sides.items():
                out = side()
                torch.cuda.synchronize()
                # in the dtype of what is compared: rounding a float64 result to it is nobody's error
                reference = [e.to(o.dtype) if isinstance(e, torch.Tensor) else e for e, o in zip(exact, out, strict=True)]
                each = [round(job_child.worst([o], [r]), 3) for o, r in zip(out, reference)]
                row[name] = {"worst": max(each), "norm": float(f"{job_child.norm(out, exact):.3g}"), "each": each, "dtypes": [str(o.dtype)[6:] for o in out]}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

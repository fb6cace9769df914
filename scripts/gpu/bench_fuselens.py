"""Times FuseLens's kernels against torch.compile on one GPU, in one run; prints one JSON line a graph, then a summary.

usage: bench_fuselens.py JOBS OUT.jsonl [--only REGEX] [--seconds 0.3] [--warm N] [--max-autotune]

JOBS is what scripts/gpu/bench_jobs.mjs wrote. Four sides on the same inputs: `fuselens` and `torch-2.11` (our code under
those presets), `compile` (torch.compile of the graph in eager PyTorch) and `eager`. Per side: median `cold` (L2 flushed
before every run) and `graph` (CUDA-graph replays), in microseconds, and the largest error against eager PyTorch. The bound
is what reading every input once and writing every output once takes at the copy speed measured in the same run.
`--warm N`: N processes compile everything first, so that the timing process finds Triton's and Inductor's caches full.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
for package in (HERE.parent.parent / ".gpu" / "app" / "python", HERE.parent.parent / "gpu-worker" / "python"):
    if package.exists():
        sys.path.insert(0, str(package))

SIDES = ("fuselens", "torch-2.11")


def job_files(folder, only, part=(0, 1)):
    files = [p for p in sorted(pathlib.Path(folder).glob("*.json")) if not only or re.search(only, p.stem)]
    return files[part[0] :: part[1]]


def outputs_of(fn, args):
    import torch

    with torch.no_grad():
        out = fn(*args)
    return out if isinstance(out, (tuple, list)) else (out,)


def sides_of(job, mode):
    """The callables of one graph, each on a list of inputs, and the inputs."""
    import torch

    from fuselens_worker.benchmark import fill, load

    torch._dynamo.reset()
    codes = {s: load(job[s]["code"], f"fuselens_{s.replace('.', '_').replace('-', '_')}") for s in SIDES}
    args = fill(codes["fuselens"].get_args())
    eager = load(job["eager"], "fuselens_eager").forward
    compiled = torch.compile(eager, mode=mode)
    sides = {s: (lambda a, c=codes[s]: c.call(list(a))) for s in SIDES}
    sides["compile"] = lambda a: outputs_of(compiled, a)
    sides["eager"] = lambda a: outputs_of(eager, a)
    return sides, args


def copy_us(nbytes):
    """Microseconds that moving so many bytes takes at this GPU's copy speed, by a copy of that size (cold)."""
    import statistics

    import torch

    from fuselens_worker.timing import time_cold

    n = max(nbytes // 2, 1 << 20)
    a = torch.empty(n, dtype=torch.uint8, device="cuda").random_(0, 255)
    b = torch.empty_like(a)
    return statistics.median(time_cold(lambda: b.copy_(a), 0.1, 20)) * nbytes / (2 * n)


def run(path, options):
    import statistics

    import torch

    from fuselens_worker.benchmark import fresh, largest_error
    from fuselens_worker.timing import time_cold, time_graph

    job = json.loads(path.read_text())
    row = {"name": job["name"], "family": job["family"], "bound_bytes": job["bound_bytes"]}
    sides, args = sides_of(job, "max-autotune-no-cudagraphs" if options.max_autotune else None)
    reference = sides["eager"](fresh(args))
    row["error"], row["failed"] = {}, {}
    for name, side in list(sides.items()):
        try:
            ours = side(fresh(args))
            torch.cuda.synchronize()
            row["error"][name] = largest_error(ours, reference)
            del ours
        except Exception as error:
            if "CUDA error" in str(error):
                raise
            row["failed"][name] = f"{type(error).__name__}: {error}"[:400]
            del sides[name]
    del reference
    if options.compile_only:
        return row
    row["copy_us"] = copy_us(job["bound_bytes"])
    row["cold"], row["graph"] = {}, {}
    for name, side in sides.items():
        once = lambda: side(args)
        row["cold"][name] = statistics.median(time_cold(once, options.seconds, 20))
        replays = time_graph(once, options.seconds / 3, 5)
        row["graph"][name] = statistics.median(replays) if replays else None
    for s in SIDES:
        row[s] = {"bytes": job[s]["bytes"], "launches": job[s]["launches"], "kernels": len(job[s]["kernels"])}
    return row


def mean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def summary(rows):
    for family in ("headline", "issue", "times"):
        mine = [r for r in rows if r["family"] == family and "cold" in r]
        for how in ("cold", "graph"):
            pairs = [(r[how].get("fuselens"), r[how].get("compile"), r) for r in mine]
            pairs = [(a, b, r) for a, b, r in pairs if a and b]
            if not pairs:
                continue
            slower = [f"{r['name']} {b / a:.2f}" for a, b, r in pairs if b / a < 0.97]
            print(
                f"{family} {how}: {len(pairs)} graphs, {mean(b / a for a, b, _ in pairs):.2f}x torch.compile; "
                f"times the copy: ours {mean(a / r['copy_us'] for a, _, r in pairs):.2f}, torch.compile "
                f"{mean(b / r['copy_us'] for _, b, r in pairs):.2f}; slower: {', '.join(slower) or 'none'}",
                flush=True,
            )
    bad = [f"{r['name']} {k}: {v[:120]}" for r in rows for k, v in r.get("failed", {}).items()]
    off = [f"{r['name']} {r['error']['fuselens']:.1e}" for r in rows if r.get("error", {}).get("fuselens", 0) > max(0.03, 2 * r["error"].get("compile", 0))]
    print(f"failed: {'; '.join(bad) or 'none'}\noff: {', '.join(off) or 'none'}", flush=True)


def warm(options, n):
    """Fills the caches: every process compiles and runs its share of the graphs once."""
    command = [sys.executable, __file__, options.jobs, os.devnull, "--compile-only", "--only", options.only or ""]
    command += ["--max-autotune"] if options.max_autotune else []
    children = [subprocess.Popen([*command, "--part", f"{i}/{n}"], stdout=subprocess.DEVNULL) for i in range(n)]
    for child in children:
        child.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs")
    parser.add_argument("out")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--warm", type=int, default=0)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--max-autotune", action="store_true")
    options = parser.parse_args()
    if options.warm:
        warm(options, options.warm)
    i, n = map(int, options.part.split("/"))
    rows = []
    with open(options.out, "w") as out:
        for path in job_files(options.jobs, options.only, (i, n)):
            try:
                row = run(path, options)
            except Exception as error:
                row = {"name": path.stem, "family": path.stem.split(".")[0], "failed": {"job": f"{type(error).__name__}: {error}"[:400]}}
            rows.append(row)
            line = json.dumps(row)
            out.write(line + "\n")
            out.flush()
            if not options.compile_only:
                print(line, flush=True)
    if not options.compile_only:
        summary(rows)


if __name__ == "__main__":
    main()

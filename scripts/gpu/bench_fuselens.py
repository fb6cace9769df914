"""Times FuseLens's kernels against torch.compile on one GPU, in one run; prints one JSON line a graph, then a summary.

usage: bench_fuselens.py JOBS OUT.jsonl [--only REGEX] [--seconds 0.3] [--warm N] [--max-autotune]

JOBS is what scripts/gpu/bench_jobs.mjs wrote. Four sides on the same inputs: `fuselens` and `torch-2.11` (our code under
those presets), `compile` (torch.compile of the graph in eager PyTorch) and `eager`; a training step is a forward and a
backward graph in one, and autograd's on the other sides. Per side: median `cold` (L2 flushed before every run), `graph`
(CUDA-graph replays) and `host` (Python's own time per call), in microseconds, and the largest error against eager PyTorch.
The bound is what reading every input once and writing every output once takes at the copy speed measured in the same run.
`predicted`: kernels of preset fuselens alone, measured cold, beside what the compiler predicts. `equal`: whether two runs of
preset fuselens gave the same bits; `repeats`: whether five did with `deterministic`. `--warm N`: N processes compile everything first, so that the timing process finds
Triton's and Inductor's caches full.
"""

import argparse
import json
import os
import subprocess
import sys

from common import job_files, mean, outputs_of

SIDES = ("fuselens", "torch-2.11")
#: preset fuselens with `deterministic`, which is not timed
REPEATED = "deterministic"
RUNS = 5


def sides_of(job, mode):
    """The callables of one graph, each on a list of inputs, and the inputs."""
    import torch

    from fuselens_worker.benchmark import fill, load, names_of

    torch._dynamo.reset()
    eager = load(job["eager"], "fuselens_eager").forward
    if job["family"] == "train":
        return training_sides(job, eager, torch.compile(eager, mode=mode))
    codes = {s: load(job[s]["code"], f"fuselens_{s.replace('.', '_').replace('-', '_')}") for s in (*SIDES, REPEATED)}
    args = fill(codes["fuselens"].get_args(), names_of(eager))
    compiled = torch.compile(eager, mode=mode)
    sides = {s: (lambda a, c=codes[s]: c.call(list(a))) for s in codes}
    sides["compile"] = lambda a: outputs_of(compiled, a)
    sides["eager"] = lambda a: outputs_of(eager, a)
    return sides, args, [codes["fuselens"]]


def training_sides(job, eager, compiled):
    """The same for a training step; results and gradients are one list."""
    import torch
    from training import Step, leaves

    steps = {s: Step(job[s], f"fuselens_{s.replace('.', '_').replace('-', '_')}") for s in (*SIDES, REPEATED)}
    ours = steps["fuselens"]
    args = ours.args(job["eager"])
    wanted = [g is not None for g in ours.run(args)[1]]
    args = leaves(args, wanted)

    def flat(pair):
        results, gradients = pair
        return [r.detach() if hasattr(r, "detach") else r for r in results] + [g for g in gradients if g is not None]

    def mine(a, step):
        with torch.no_grad():
            return flat(step.run(a))

    sides = {s: (lambda a, step=steps[s]: mine(a, step)) for s in steps}
    # copies that are made for one comparison are leaves no longer
    sides["compile"] = lambda a: flat(ours.rival(compiled, wanted)(leaves(a, wanted) if a is not args else a))
    sides["eager"] = lambda a: flat(ours.rival(eager, wanted)(leaves(a, wanted) if a is not args else a))
    return sides, args, [ours.forward, ours.backward]


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
    sides, args, codes = sides_of(job, "max-autotune-no-cudagraphs" if options.max_autotune else None)
    reference = sides["eager"](fresh(args))
    row["error"], row["failed"] = {}, {}
    for name, side in list(sides.items()):
        try:
            ours = side(fresh(args))
            torch.cuda.synchronize()
            row["error"][name] = largest_error(ours, reference)
            if name == "fuselens":
                row["equal"] = same_bits(ours, side(fresh(args)))
            if name == REPEATED:
                row["repeats"] = all(same_bits(ours, side(fresh(args))) for _ in range(RUNS - 1))
            del ours
        except Exception as error:
            if "CUDA error" in str(error):
                raise
            row["failed"][name] = f"{type(error).__name__}: {error}"[:400]
            del sides[name]
    sides.pop(REPEATED, None)
    del reference
    if options.compile_only:
        return row
    if job["bound_bytes"]:
        row["copy_us"] = copy_us(job["bound_bytes"])
    row["cold"], row["graph"], row["host"] = {}, {}, {}
    for name, side in sides.items():
        once = lambda: side(args)
        row["cold"][name] = statistics.median(time_cold(once, options.seconds, 20))
        replays = time_graph(once, options.seconds / 3, 5)
        row["graph"][name] = statistics.median(replays) if replays else None
        row["host"][name] = host_us(once)
    if "fuselens" in sides:
        row["predicted"] = predicted(codes, job, lambda: sides["fuselens"](args))
    return row


def same_bits(one, other):
    import torch

    def same(a, b):
        if not isinstance(a, torch.Tensor):
            return a == b
        whole = [t.reshape(-1).contiguous().view(torch.uint8) for t in (a, b)]
        return bool(torch.equal(*whole))

    return all(same(a, b) for a, b in zip(one, other, strict=True))


def host_us(fn, runs=30):
    """Median time that a call keeps Python busy, the device left alone."""
    import statistics
    import time

    import torch

    times = []
    for _ in range(runs):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        fn()
        times.append((time.perf_counter() - begin) * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times)


def predicted(codes, job, once):
    """[name, predicted, measured, bytes] of every kernel that ran, in microseconds; measured alone with the L2 flushed."""
    from fuselens_worker.benchmark import kernel_times

    mine = job["fuselens"]
    parts = [mine] if "kernels" in mine else [mine["forward"], mine["backward"]]
    rows = []
    for code, part in zip(codes, parts):
        expected = {k["name"]: k["estimateUs"] for k in part["kernels"]}
        how = {"kernels": part["kernels"], "seconds": 0.1, "min_runs": 10}
        for k in kernel_times(code, once, how):
            rows.append([k["name"], expected[k["name"]], k["medianUs"], k["config"]])
    return rows


def summary(rows):
    for family in ("headline", "issue", "times", "train"):
        mine = [r for r in rows if r["family"] == family and "cold" in r]
        for how in ("cold", "graph"):
            pairs = [(r[how].get("fuselens"), r[how].get("compile"), r) for r in mine]
            pairs = [(a, b, r) for a, b, r in pairs if a and b]
            if not pairs:
                continue
            over = [r for _, _, r in pairs if "copy_us" in r]
            slower = [f"{r['name']} {b / a:.2f}" for a, b, r in pairs if b / a < 0.97]
            print(
                f"{family} {how}: {len(pairs)} graphs, {mean(b / a for a, b, _ in pairs):.2f}x torch.compile; "
                f"times the copy: ours {mean(r[how]['fuselens'] / r['copy_us'] for r in over):.2f}, torch.compile "
                f"{mean(r[how]['compile'] / r['copy_us'] for r in over):.2f}; slower: {', '.join(slower) or 'none'}",
                flush=True,
            )
    bad = [f"{r['name']} {k}: {v[:120]}" for r in rows for k, v in r.get("failed", {}).items()]
    off = [f"{r['name']} {r['error']['fuselens']:.1e}" for r in rows if r.get("error", {}).get("fuselens", 0) > max(0.03, 2 * r.get("error", {}).get("compile", 0))]
    near = [abs(e / m - 1) <= 0.25 for r in rows for _, e, m, _ in r.get("predicted", []) if m > 20]
    print(f"predicted within 25%: {sum(near)} of {len(near)} kernels over 20 us", flush=True)
    differ = [r["name"] for r in rows if r.get("equal") is False]
    print(f"not the same bits twice: {', '.join(differ) or 'none'}", flush=True)
    differ = [r["name"] for r in rows if r.get("repeats") is False]
    print(f"not the same bits five times with deterministic: {', '.join(differ) or 'none'}", flush=True)
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

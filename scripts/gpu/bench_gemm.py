"""Times FuseLens's matrix products and attention against torch.compile's max-autotune on one GPU, in one run.

usage: bench_gemm.py JOBS OUT.jsonl [--only REGEX] [--seconds 0.3] [--processes 12] [--quick]

JOBS is what scripts/gpu/gemm_jobs.mjs wrote. Every way that a job offers (library kernels, each form of the template) is
compiled in parallel processes, tuned and measured; the fastest is then timed beside torch.compile(mode=
"max-autotune-no-cudagraphs"), torch.compile as it is (`default`), what FuseLens
makes without max-autotune (`untuned`) and eager PyTorch on the same inputs. Per side: median `cold` (L2 flushed before every run)
and `graph` (CUDA-graph replays), in microseconds; errors against the same graph in float64 where it runs there, else
against eager. Prints one JSON line a job, then a table. `--quick` leaves torch.compile out.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import statistics
import tempfile
import time

from common import job_files, mean, outputs_of

# sides of torch.compile by name
RIVALS = {"compile": {"mode": "max-autotune-no-cudagraphs"}, "default": {}}


def kernels_of(code):
    from fuselens_runtime.heuristics import Kernel

    return [k for k in vars(code).values() if isinstance(k, Kernel)]


def compile_one(task):
    """Compiles one configuration of one way's kernels, or a rival, into the shared cache."""
    path, way, at = task
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/tmp/fuselens-warm"
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "4"
    import torch

    from fuselens_worker.benchmark import fill, load

    job = json.loads(pathlib.Path(path).read_text())
    start = time.time()
    try:
        if way in RIVALS:
            torch._dynamo.reset()
            args = fill(load(job["ways"]["library"]["code"], "warm").get_args())
            outputs_of(torch.compile(load(job["eager"], "warm_eager").forward, **RIVALS[way]), args)
        else:
            code = load(job["untuned"] if way == "untuned" else job["ways"][way]["code"], "warm")
            for k in kernels_of(code):
                k.configs = k.configs[at : at + 1] or k.configs[:1]
                k._launch = lambda args, config, k=k: k.compile(args, config)
            code.call(fill(code.get_args()))
        torch.cuda.synchronize()
    except Exception as error:
        return f"{job['name']} {way} {at}: {type(error).__name__}: {str(error)[:300]}"
    finally:
        torch.cuda.empty_cache()
    took = time.time() - start
    return f"{job['name']} {way} {at}: slow to compile, {took:.0f} s" if took > 30 else None


def warm(files, processes, quick, limit):
    """Fills Triton's cache. The rivals' own measurements are made again later, alone."""
    tasks = []
    for path in files:
        job = json.loads(path.read_text())
        if not quick:
            tasks += [(str(path), rival, 0) for rival in RIVALS]
        for way, side in [*job["ways"].items(), ("untuned", {"code": job["untuned"]})]:
            count = max([len(re.findall(r"triton\.Config\(", part)) for part in side["code"].split("@triton.jit")] or [1])
            tasks += [(str(path), way, i) for i in range(max(count, 1))]
    # rivals first: they take longest
    tasks.sort(key=lambda t: (t[1] not in RIVALS, t[2]))
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        results, end = pool.imap_unordered(compile_one, tasks), time.time() + limit
        for _ in tasks:
            try:
                message = results.next(timeout=max(0.1, end - time.time()))
            except multiprocessing.TimeoutError:
                print(f"# not all compiled in {limit:.0f} s", flush=True)
                break
            if message:
                print(f"# {message}", flush=True)


def tune(kernel, args):
    """All configurations of a kernel, measured with the L2 flushed."""
    from fuselens_worker.timing import time_cold

    kernel.times = []
    # what a run writes over is put back
    kept = {i: args[i].clone() for i, n in enumerate(kernel.names) if n in kernel.mutated and hasattr(args[i], "clone")}
    for config in kernel.configs:
        try:
            run = lambda: kernel._launch(args, config)
            run()
            ms = statistics.median(time_cold(run, 0.02, 10))
        except Exception as error:
            kernel.times.append((str(config), f"{type(error).__name__}: {str(error)[:120]}"))
            continue
        kernel.times.append((str(config), ms))
    for i, value in kept.items():
        args[i].copy_(value)
    good = [(t, i) for i, (_, t) in enumerate(kernel.times) if isinstance(t, float)]
    if not good:
        raise RuntimeError(f"no configuration runs: {kernel.times[:2]}")
    return kernel.configs[min(good)[1]]


def exact(job, args):
    """The graph in float64; None where an operator has no such form."""
    import torch

    from fuselens_worker.benchmark import load

    eager = load(job["eager"], "exact_eager").forward
    try:
        wide = [a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args]
        return outputs_of(eager, wide)
    except Exception:
        return None


def relative_error(ours, reference):
    """|ours - reference| / |reference| over all outputs, worst of them."""
    worst = 0.0
    for a, b in zip(ours, reference):
        x, y = a.double(), b.double()
        same = (x == y) | (x.isnan() & y.isnan())
        worst = max(worst, (x - y).masked_fill(same, 0).norm().item() / (y.nan_to_num(0, 0, 0).norm().item() + 1e-30))
    return worst


def run(path, options, skip, say):
    """Measures one job, leaving out the ways in `skip`; `say` is told which way comes next."""
    import torch

    from fuselens_worker.benchmark import fill, fresh, load
    from fuselens_worker.timing import time_cold, time_graph

    job = json.loads(path.read_text())
    torch._dynamo.reset()
    row = {"name": job["name"], "ways": {}, "failed": {}, "error": {}, "tuned": {}}
    codes = {w: load(side["code"], f"way_{w}") for w, side in job["ways"].items() if w not in skip}
    args = fill(next(iter(codes.values())).get_args())
    eager = load(job["eager"], "eager").forward
    plain = outputs_of(eager, fresh(args))
    reference = exact(job, args) or plain
    row["against"] = "eager" if reference is plain else "float64"
    for way, code in codes.items():
        say(way)
        try:
            for k in kernels_of(code):
                k._tune = lambda a, k=k: tune(k, a)
            ours = code.call(fresh(args))
            torch.cuda.synchronize()
            row["error"][way] = relative_error(ours, reference)
            del ours
            row["tuned"][way] = {k.fn.__name__: {"best": str(k.best_config), "times": k.times} for k in kernels_of(code) if hasattr(k, "times")}
        except Exception as error:
            if "CUDA error" in str(error):
                raise
            row["failed"][way] = f"{type(error).__name__}: {error}"[:400]
    # in turns, so that the chip's temperature tells on all alike
    times = {way: [] for way in row["error"]}
    for _ in range(3):
        for way in times:
            times[way] += time_cold(lambda: codes[way].call(list(args)), options.seconds / 6, 10)
    row["ways"] = {way: statistics.median(t) for way, t in times.items()}
    row["chosen"] = min(row["ways"], key=row["ways"].get)
    code = codes[row["chosen"]]
    untuned = load(job["untuned"], "untuned")
    row["error"]["untuned"] = relative_error(untuned.call(fresh(args)), reference)
    sides = {"fuselens": lambda: code.call(list(args)), "untuned": lambda: untuned.call(list(args)), "eager": lambda: outputs_of(eager, args)}
    if not options.quick:
        for side, how in RIVALS.items():
            say(side)
            compiled = torch.compile(load(job["eager"], side).forward, **how)
            sides[side] = lambda compiled=compiled: outputs_of(compiled, args)
            row["error"][side] = relative_error(sides[side](), reference)
    row["error"]["eager"] = relative_error(plain, reference)
    row["error"]["fuselens"] = row["error"][row["chosen"]]
    del plain, reference
    cold, graph = {s: [] for s in sides}, {s: [] for s in sides}
    names = list(sides)
    for turn in range(len(names)):
        # each side is once the first, when the chip has had a rest
        for s in names[turn:] + names[:turn]:
            cold[s] += time_cold(sides[s], options.seconds / len(names), 10)
            graph[s] += time_graph(sides[s], options.seconds / len(names) / 2, 5) or []
    row["cold"] = {s: statistics.median(t) for s, t in cold.items()}
    row["graph"] = {s: statistics.median(t) if t else None for s, t in graph.items()}
    return row


def serve(pipe, options):
    """Measures jobs in a process of its own: one that hangs or faults takes nothing else with it."""
    import torch

    torch.cuda.init()
    while True:
        path, skip = pipe.recv()
        if path is None:
            return
        try:
            row = run(path, options, skip, lambda way: pipe.send(("way", way)))
        except Exception as error:
            row = {"name": path.stem, "failed": {"job": f"{type(error).__name__}: {error}"[:400]}}
        pipe.send(("row", row))


class Child:
    def __init__(self, options):
        self.options = options
        self.process = None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, self.options), daemon=False)
        self.process.start()
        theirs.close()

    def run(self, path):
        skip = {}
        while True:
            if self.process is None:
                self.start()
            way, lost = "start", None
            self.pipe.send((path, set(skip)))
            try:
                while lost is None:
                    if not self.pipe.poll(self.options.patience * (3 if way == "start" or way in RIVALS else 1)):
                        lost = "hung"
                        break
                    kind, value = self.pipe.recv()
                    if kind == "row":
                        value["failed"].update(skip)
                        if "CUDA error" in json.dumps(value["failed"]):
                            self.end()
                        return value
                    way = value
            except (EOFError, OSError):
                lost = "died"
            self.end()
            print(f"# {path.stem} {way}: {lost}", flush=True)
            if way == "start" or way in RIVALS or way in skip:
                return {"name": path.stem, "failed": {**skip, way: lost}}
            skip[way] = lost

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
        self.process = None


def summary(rows):
    print(f"{'program':26} {'chosen':14} {'ours':>8} {'compile':>8} {'default':>8} {'eager':>8} {'cold x':>7} {'graph x':>7} error ours/compile")
    ratios = {"cold": [], "graph": []}
    for r in rows:
        if "cold" not in r:
            print(r["name"], r["failed"])
            continue
        x = {how: (r[how].get("compile") or r[how]["eager"] or 0) / (r[how]["fuselens"] or 1) for how in ("cold", "graph")}
        for how in x:
            ratios[how].append(x[how])
        c = r["cold"]
        print(
            f"{r['name']:26} {r['chosen']:14} {c['fuselens']:8.1f} {c.get('compile', 0):8.1f} {c.get('default', 0):8.1f} {c['eager']:8.1f} {x['cold']:7.3f} {x['graph']:7.3f} "
            f"{r['error']['fuselens']:.1e} {r['error'].get('compile', 0):.1e} {json.dumps({w: round(t, 1) for w, t in r['ways'].items()})}"
        )
    for how, xs in ratios.items():
        print(f"{how}: geometric mean {mean(xs):.3f}, least {min(xs, default=0):.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs")
    parser.add_argument("out")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limit", type=float, default=200, help="seconds for compiling beforehand")
    parser.add_argument("--patience", type=float, default=25, help="seconds that a way may take before it counts as hung")
    options = parser.parse_args()
    files = job_files(options.jobs, options.only)
    # one for all: Inductor names another folder once it is loaded
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(tempfile.gettempdir(), "fuselens-triton"))
    start = time.time()
    warm(files, options.processes, options.quick, options.limit)
    print(f"# compiled in {time.time() - start:.0f} s", flush=True)
    child = Child(options)
    with open(options.out, "w") as out:
        for path in files:
            row = child.run(path)
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(f"# {row['name']} {time.time() - start:.0f} s {json.dumps(row.get('failed'))}", flush=True)
    child.end()
    summary([json.loads(line) for line in open(options.out)])


if __name__ == "__main__":
    main()

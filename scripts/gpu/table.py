"""Writes docs/gpu.md from a run's files.

usage: table.py FOLDER DATE > docs/gpu.md

FOLDER holds what scripts/gpu/measure.sh wrote: rows.jsonl, fuselens.jsonl, and, where those stages ran, first.jsonl, float64.jsonl, faults.txt and lens.txt.
"""

import json
import math
import pathlib
import sys

from run_jobs import agrees

FAMILIES = (
    ("headline", "Reduction + transpose of one matrix"),
    ("issue", "Programs of that kind"),
    ("times", "Memory-bound programs"),
    ("train", "Training steps"),
)
HEAD = """# On a real GPU

One NVIDIA H200, torch 2.11.0, triton 3.6.0, {date}. Made again by:

```
npm run gpu:pack
node scripts/gpu/make_jobs.mjs PRESET FILE...          # into .gpu/inputs/jobs
node scripts/gpu/bench_jobs.mjs                        # into .gpu/inputs/bench
node scripts/gpu/first_result_jobs.mjs FILE...         # into .gpu/inputs/first
# on the GPU machine, in a copy of the checkout:
bash scripts/gpu/measure.sh bench jobs float64 first faults lens
python3 scripts/gpu/table.py . DATE > docs/gpu.md
```
"""


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def geomean(xs):
    xs = [x for x in xs if x]
    return math.exp(sum(map(math.log, xs)) / len(xs)) if xs else float("nan")


def right(rows):
    compared = [r for r in rows if r["ok"] and "worst" in r and not r["random"]]
    close = [r for r in compared if r["worst"] <= 1]
    near = [r for r in compared if r["worst"] > 1 and agrees(r)]
    print("## Right\n")
    print(
        f"{len(rows)} graphs and training steps (all programs and counts cases under presets `torch-2.11` and `fuselens`, the "
        f"programs of the benchmark, the examples and the walkthrough's cells under `fuselens`); {sum(r['ok'] for r in rows)} ran. "
        f"{len(compared)} were compared with the same graph in eager PyTorch, a training step's results and gradients with "
        f"autograd's: {len(close)} agree within 2e-3 (float32), 3e-2 (halves), 0.15 (float8) of |reference| + mean |reference|, "
        f"integers and booleans exactly. {len(near)} more are as near to eager PyTorch, or to the same graph in float64, as "
        "torch.compile is on the same inputs: "
        "fused arithmetic rounds halves less often, which moves thresholds and integers made from them. Graphs that draw "
        "random numbers can't be compared; sums by atomic adds (gradients of embeddings and convolutions) change from run to "
        "run, and so does the largest error of both sides: there |difference| / |float64| over all elements tells.\n"
    )
    print("For integers and booleans the number is that of elements that differ, plus one.\n")
    print("| graph | preset | what |\n|---|---|---|")
    for r in sorted(rows, key=lambda r: r["name"]):
        name, preset = split(r["name"])
        if not r["ok"]:
            print(f"| {name} | {preset} | did not run: {r['error'].splitlines()[0][:160].replace('|', '/')} |")
        elif r in compared and r["worst"] > 1:
            verdict = "as near as torch.compile" if agrees(r) else "**off**"
            # of a result that is zero but for rounding a share says nothing
            exact = f"; from float64 {r['norm']:.1e}, torch.compile {r['compile_norm']:.1e}" if (r.get("norm") or 1) < 1 else ""
            print(f"| {name} | {preset} | {verdict}: {r['worst']:.3g} times the tolerance, torch.compile {r.get('compile_worst', float('nan')):.3g}{exact} |")
    print()


def against_float64(rows):
    if not rows:
        return
    print("Largest errors over several runs on the same inputs, in units of the tolerance, and |difference| / |float64|; eager PyTorch sums in a fixed order:\n")
    print("| graph | preset | runs | ours | torch.compile | eager | ours from float64 | torch.compile | eager |\n|---|---|---|---|---|---|---|---|---|")
    for name in sorted({r["name"] for r in rows}):
        runs = [r for r in rows if r["name"] == name]
        cells = [
            " to ".join(f"{extreme(r[side][what] for r in runs):.2g}" for extreme in (min, max))
            for what in ("worst", "norm")
            for side in ("ours", "compile", "eager")
        ]
        print(f"| {' | '.join([*split(name), str(len(runs)), *cells])} |")
    print()


def split(name):
    for preset in ("torch-2.11", "fuselens"):
        if name.endswith(f".{preset}"):
            return name[: -len(preset) - 1], preset
    return name, ""


def number(x):
    return f"{x:.1f}" if x else "-"


def fast(bench):
    print("## Fast\n")
    print(
        "Medians in microseconds with the L2 flushed before every run (`cold`) and as CUDA-graph replays (`graph`), all sides on "
        "the same inputs in one run; `host` is how long a call keeps Python busy, which is what a cold run of a few "
        "microseconds waits for. `copy` is a copy that reads and writes as many bytes as reading every input and writing every "
        "output once. A training step is a forward and a backward graph. Ratios are torch.compile's time over ours. Where "
        "torch.compile's host is the slower, a cold ratio is in part the host's: `preset torch-2.11` is torch.compile's kernels under "
        "our wrapper. Integer inputs are random zeros and ones, so train_embedding_bag_mean's rows are two.\n"
    )
    for family, title in FAMILIES:
        part = [r for r in bench if r["family"] == family and r.get("cold", {}).get("fuselens") and r["cold"].get("compile")]
        if not part:
            continue
        cold = [r["cold"]["compile"] / r["cold"]["fuselens"] for r in part]
        both = [r for r in part if r.get("graph", {}).get("fuselens") and r["graph"].get("compile")]
        graph = [r["graph"]["compile"] / r["graph"]["fuselens"] for r in both]
        print(f"### {title}\n\nGeometric mean over {len(part)}: {geomean(cold):.2f} times as fast as torch.compile cold (least {min(cold):.2f}), {geomean(graph):.2f} as replays (least {min(graph):.2f})", end="")
        same = [r["cold"]["torch-2.11"] / r["cold"]["fuselens"] for r in part if r["cold"].get("torch-2.11")]
        if same:
            print(f"; {geomean(same):.2f} times preset torch-2.11's code cold (least {min(same):.2f})", end="")
        copies = [r for r in part if r.get("copy_us")]
        if copies:
            ours, theirs = (geomean([r["cold"][s] / r["copy_us"] for r in copies]) for s in ("fuselens", "compile"))
            print(f"; {ours:.2f} times the copy (torch.compile {theirs:.2f})", end="")
        print(".\n")
        print("| program | copy | ours | preset torch-2.11 | torch.compile | eager | ratio cold | ours, graph | torch.compile, graph | ratio graph | host | torch.compile's host | largest error |")
        print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
        for r in part:
            c, g, h = r["cold"], r.get("graph", {}), r.get("host", {})
            ratio = f"{g['compile'] / g['fuselens']:.2f}" if r in both else "-"
            print(
                f"| {r['name']} | {number(r.get('copy_us'))} | {number(c['fuselens'])} | {number(c.get('torch-2.11'))} | {number(c['compile'])} | {number(c.get('eager'))} "
                f"| {c['compile'] / c['fuselens']:.2f} | {number(g.get('fuselens'))} | {number(g.get('compile'))} | {ratio} | {number(h.get('fuselens'))} | {number(h.get('compile'))} | {r['error']['fuselens']:.1e} |"
            )
        print()


def predicted(bench):
    kernels = [(r["name"], *k) for r in bench for k in r.get("predicted", []) if k[2] > 20]
    if not kernels:
        return
    far = [k for k in kernels if abs(k[2] / k[3] - 1) > 0.25]
    print("## Predicted\n")
    print(
        f"The compiler's estimate of each of preset `fuselens`'s kernels against the kernel alone, launched with the L2 flushed: "
        f"{len(kernels) - len(far)} of {len(kernels)} kernels over 20 us ({100 * (len(kernels) - len(far)) / len(kernels):.0f}%) are within 25%. The others:\n"
    )
    print("| program | kernel | predicted | measured | ratio | configuration |\n|---|---|---|---|---|---|")
    for name, kernel, estimate, measured, config in sorted(far, key=lambda k: -abs(math.log(k[2] / k[3]))):
        print(f"| {name} | {kernel} | {estimate:.1f} | {measured:.1f} | {estimate / measured:.2f} | {config} |")
    print()


def first(rows):
    if not rows:
        return
    print("## The first result\n")
    print(
        "Seconds from handing a graph to an executor to its result, every configuration compiled and tuned, the graph compared with "
        "eager PyTorch: kernels compiled one after another; in as many processes as there are processors; and by another "
        "executor that finds them compiled.\n"
    )
    print("| graph | kernels | configurations compiled | one after another | in parallel | kept |\n|---|---|---|---|---|---|")
    for r in rows:
        c = r["compiled"]
        print(f"| {r['name']} | {r['kernels']} | {c['one_by_one']}, {c['parallel']}, {c['kept']} | {r['one_by_one']} | {r['parallel']} | {r['kept']} |")
    print()


def repeats(bench):
    told = [r for r in bench if "equal" in r]
    differ = [r["name"] for r in told if not r["equal"]]
    print("## Deterministic\n")
    print(f"Preset `fuselens` run twice on the same inputs gave the same bits in {len(told) - len(differ)} of {len(told)} programs" + (f"; not in {', '.join(differ)}." if differ else "."))
    told = [r for r in bench if "repeats" in r]
    differ = [r["name"] for r in told if not r["repeats"]]
    print(f"With `deterministic` (the option, or torch.use_deterministic_algorithms), five runs gave the same bits in {len(told) - len(differ)} of {len(told)}" + (f"; not in {', '.join(differ)}." if differ else "."))
    print()


def main(folder, date):
    folder = pathlib.Path(folder)
    rows, bench = read(folder / "rows.jsonl"), read(folder / "fuselens.jsonl")
    print(HEAD.format(date=date))
    right(rows)
    against_float64(read(folder / "float64.jsonl"))
    fast(bench)
    predicted(bench)
    repeats(bench)
    first(read(folder / "first.jsonl"))
    for name, title, text in (
        ("faults.txt", "Faults", "Faulty jobs sent to a worker over ZeroMQ, a good one after each; `ok` is a case that went as it should."),
        ("lens.txt", "Through the worker", "What the command line prints, and output code run by itself."),
    ):
        if (folder / name).exists():
            print(f"## {title}\n\n{text}\n\n```\n{(folder / name).read_text().strip()}\n```\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])

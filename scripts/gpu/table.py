"""Writes docs/gpu.md from a run's rows.

usage: table.py ROWS.jsonl BENCH.jsonl DATE > docs/gpu.md

ROWS.jsonl comes from run_jobs.py, BENCH.jsonl from bench_fuselens.py, both of one run on one GPU.
"""

import json
import math
import sys


def read(path):
    return [json.loads(line) for line in open(path)]


def geomean(xs):
    return math.exp(sum(map(math.log, xs)) / len(xs)) if xs else float("nan")


def main(rows_path, bench_path, date):
    rows, bench = read(rows_path), read(bench_path)
    good = [r for r in rows if r["ok"]]
    compared = [r for r in good if r["maxError"] is not None]
    off = [r for r in compared if r["maxError"] > 0.03]
    print("# On a real GPU\n")
    print(f"One NVIDIA H200, torch 2.11.0, triton 3.6.0, {date}. Made again by:\n")
    print("```\nnpm run gpu:pack\nnode scripts/gpu/make_jobs.mjs PRESET none FILE...     # into .gpu/inputs/jobs\nnode scripts/gpu/bench_jobs.mjs                        # into .gpu/inputs/bench")
    print("# on the GPU machine, in a copy of the checkout:\npython3 scripts/gpu/run_jobs.py .gpu/inputs/jobs rows.jsonl --processes 12\nbash scripts/gpu/bench_fuselens.sh\npython3 scripts/gpu/table.py rows.jsonl fuselens.jsonl DATE > docs/gpu.md\n```\n")
    print("## Right\n")
    print(f"{len(rows)} graphs (all programs and counts cases under preset `torch-2.11`, all programs under `fuselens`, examples and walkthrough cells), {len(good)} ran. "
          f"{len(compared)} were compared with the same graph in eager PyTorch; {len(compared) - len(off)} agree within 0.03 of |reference| + mean |reference|.\n")
    print("| graph | preset | what |\n|---|---|---|")
    for r in sorted(rows, key=lambda r: r["name"]):
        name, _, preset = r["name"].rsplit(".", 2) if r["name"].count(".") >= 2 and not r["name"].endswith("torch-2.11") else (r["name"].removesuffix(".torch-2.11"), "", "torch-2.11")
        if not r["ok"]:
            print(f"| {name} | {preset} | did not run: {r['error'].splitlines()[0][:140].replace('|', '/')} |")
        elif r in off:
            print(f"| {name} | {preset} | largest error {r['maxError']:.2g} |")
    print("\n## Fast\n")
    print("Medians in microseconds with the L2 flushed before every run (`cold`) and as CUDA-graph replays (`graph`); all sides on the same inputs in one run. "
          "`copy` is a copy that reads and writes as many bytes as reading every input and writing every output once.\n")
    for family, title in (("headline", "Reduction + transpose of one matrix"), ("issue", "Programs of that kind"), ("times", "Memory-bound programs")):
        part = [r for r in bench if r["family"] == family and r.get("cold", {}).get("fuselens") and r["cold"].get("compile")]
        if not part:
            continue
        cold = [r["cold"]["compile"] / r["cold"]["fuselens"] for r in part]
        graph = [r["graph"]["compile"] / r["graph"]["fuselens"] for r in part if r.get("graph", {}).get("fuselens") and r["graph"].get("compile")]
        over = [r["cold"]["fuselens"] / r["copy_us"] for r in part]
        print(f"### {title}\n\nGeometric mean over {len(part)}: {geomean(cold):.2f} times as fast as torch.compile cold, {geomean(graph):.2f} as replays; {geomean(over):.2f} times the copy (torch.compile {geomean([r['cold']['compile'] / r['copy_us'] for r in part]):.2f}).\n")
        print("| program | copy | ours | preset torch-2.11 | torch.compile | eager | ratio cold | ratio graph | largest error |\n|---|---|---|---|---|---|---|---|---|")
        for r in part:
            c, g = r["cold"], r.get("graph", {})
            ratio = f"{g['compile'] / g['fuselens']:.2f}" if g.get("fuselens") and g.get("compile") else "-"
            print(f"| {r['name']} | {r['copy_us']:.1f} | {c['fuselens']:.1f} | {c.get('torch-2.11') or float('nan'):.1f} | {c['compile']:.1f} | {c.get('eager') or float('nan'):.1f} | {c['compile'] / c['fuselens']:.2f} | {ratio} | {r['error']['fuselens']:.1e} |")
        print()


if __name__ == "__main__":
    main(*sys.argv[1:4])

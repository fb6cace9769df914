"""Seconds that torch.compile and FuseLens take for the same files, side by side in one run, as JSON.

usage: compile_times.py GPU_DIR [--out FILE] [--repeats N] [--only NAME,...]

GPU_DIR is what `npm run gpu:pack` made: inputs/compile/*.py are the files of `npm run bench -- compile`, app/ holds the
bundles; `node` is on the PATH (setup.sh). Wall-clock medians. For torch each time is a fresh Python process that runs the
file, with torch imported and the GPU awake before the clock starts: `eager` without compiling, `cold` with empty caches of
Inductor, Triton and the driver, `warm` with the caches that the cold run filled. What compiling takes is a run less the
eager one. For FuseLens: `process` is `fuselens explain --json` from start to end, `cold` and `warm` the first and the later
compiles inside one process (sessions that remember nothing), `edit` what a session that knows the file takes after an edit of
one character, of a number and of an operator.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

EDITS = ("number", "operator")
# run in a process of its own: argv[1] is the file
CHILD = """
import json, runpy, sys, time
import torch
torch.manual_seed(0)
torch.ones(1, device="cuda").add(1)
torch.cuda.synchronize()
began = time.perf_counter()
runpy.run_path(sys.argv[1], run_name="__main__")
torch.cuda.synchronize()
print(json.dumps({"seconds": time.perf_counter() - began}))
"""


def torch_run(path, caches, **env):
    """Seconds that the file takes in a fresh process."""
    folders = {
        "TORCHINDUCTOR_CACHE_DIR": f"{caches}/inductor",
        "TRITON_CACHE_DIR": f"{caches}/triton",
        "CUDA_CACHE_PATH": f"{caches}/cuda",
    }
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)],
        env={**os.environ, **folders, **env},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.strip().splitlines()[-1])["seconds"]


def fuselens_run(app, path):
    began = time.perf_counter()
    subprocess.run(["node", str(app / "cli.cjs"), "explain", str(path), "--json"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def measure(app, path, repeats):
    times = {name: [] for name in ("eager", "cold", "warm", "process", "ours_cold", "ours_warm", *EDITS)}
    fuselens_run(app, path)  # the first start of an installation keeps its compiled code
    for _ in range(repeats):
        caches = tempfile.mkdtemp(prefix="fuselens-compile-times-")
        try:
            times["process"].append(fuselens_run(app, path))
            times["cold"].append(torch_run(path, caches))
            times["warm"].append(torch_run(path, caches))
            times["eager"].append(torch_run(path, caches, TORCH_COMPILE_DISABLE="1"))
            command = ["node", str(app / "measure.cjs"), str(path), "5", str(path.with_suffix(".edits.json"))]
            ours = json.loads(subprocess.check_output(command, text=True))
            times["ours_cold"].append(ours["cold_wall_ms"] / 1000)
            times["ours_warm"].append(ours["warm_wall_ms"] / 1000)
            for kind in EDITS:
                times[kind].append(ours["edit_wall_ms"][kind] / 1000)
        finally:
            shutil.rmtree(caches, ignore_errors=True)
    t = {k: statistics.median(v) for k, v in times.items()}
    cold, warm = t["cold"] - t["eager"], t["warm"] - t["eager"]
    return {
        "aten_nodes": ours["aten_nodes"],
        "kernels": ours["kernels"],
        "torch_s": {"eager": t["eager"], "cold": t["cold"], "warm": t["warm"], "compile_cold": cold, "compile_warm": warm},
        "fuselens_s": {"process": t["process"], "cold": t["ours_cold"], "warm": t["ours_warm"], "edit": {kind: t[kind] for kind in EDITS}},
        "ratio": {
            "cold_compile_to_process": cold / t["process"],
            "cold_compile_to_cold": cold / t["ours_cold"],
            "cold_compile_to_warm": cold / t["ours_warm"],
            "warm_compile_to_warm": warm / t["ours_warm"],
        },
        "runs_s": times,
    }


def rounded(value):
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpu_dir", type=pathlib.Path)
    parser.add_argument("--out", default="compile_times.json")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    import torch

    only = [n for n in args.only.split(",") if n]
    out = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cpus": os.cpu_count(), "files": {}}
    for path in sorted((args.gpu_dir / "inputs" / "compile").glob("*.py"), key=lambda p: p.stat().st_size):
        if only and path.stem not in only:
            continue
        out["files"][path.stem] = rounded(measure(args.gpu_dir / "app", path, args.repeats))
        pathlib.Path(args.out).write_text(json.dumps(out, indent=1) + "\n")
        print(path.stem, json.dumps(out["files"][path.stem]), file=sys.stderr)
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()

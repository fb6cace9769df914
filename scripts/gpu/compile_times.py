"""Seconds that torch.compile and FuseLens take for the same files, side by side in one run, as JSON.

usage: compile_times.py GPU_DIR [--out FILE] [--repeats N] [--only NAME,...] [--no-torch]

GPU_DIR is what `npm run gpu:pack` made: inputs/compile/*.py are the files of `npm run bench -- compile`, app/ holds the
bundles; `node` is on the PATH (setup.sh). Wall-clock medians.

For torch each time is a fresh Python process that runs the file, with torch imported and the GPU awake before the clock
starts: `eager` without compiling, `cold` with empty caches of Inductor, Triton and the driver, `warm` with the caches that
the cold run filled, `number` and `operator` with the same caches after an edit of one character in the file. What compiling
takes is a run less the eager one.

For FuseLens: `process` is `fuselens explain --json` from start to end, `cold` and `warm` the first and the later compiles
inside one process (sessions that remember nothing), `number` and `operator` what a session that knows the file takes after
such an edit.
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


def torch_runs(path, edits):
    """Seconds of each kind of run, once; `edits`: texts by kind. All runs are of one path, as an editor saves to it."""
    with tempfile.TemporaryDirectory(prefix="fuselens-compile-times-") as folder:
        model, caches, filled = (pathlib.Path(folder, name) for name in ("model.py", "caches", "filled"))
        shutil.copy(path, model)
        seconds = {"cold": torch_run(model, caches)}
        shutil.copytree(caches, filled)
        seconds["warm"] = torch_run(model, caches)
        seconds["eager"] = torch_run(model, caches, TORCH_COMPILE_DISABLE="1")
        for kind in EDITS:
            shutil.rmtree(caches)
            shutil.copytree(filled, caches)
            model.write_text(edits[kind][0])
            seconds[kind] = torch_run(model, caches)
        return seconds


def fuselens_runs(app, path, edits_path):
    """Seconds of each kind of compile, and what `npm run bench -- compile` tells of the file."""
    process = fuselens_run(app, path)
    told = json.loads(subprocess.check_output(["node", str(app / "measure.cjs"), str(path), "5", str(edits_path)], text=True))
    milliseconds = {"cold": told["cold_wall_ms"], "warm": told["warm_wall_ms"], **{kind: told["edit_wall_ms"][kind] for kind in EDITS}}
    return {"process": process, **{name: ms / 1000 for name, ms in milliseconds.items()}}, told


def medians(runs):
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def measure(app, path, repeats, with_torch):
    edits_path = path.with_suffix(".edits.json")
    edits = json.loads(edits_path.read_text())
    fuselens_run(app, path)  # the first start of an installation keeps its compiled code
    torchs, ours, told = [], [], {}
    for _ in range(repeats):
        if with_torch:
            torchs.append(torch_runs(path, edits))
        run, told = fuselens_runs(app, path, edits_path)
        ours.append(run)
    fuselens = medians(ours)
    out = {"aten_nodes": told["aten_nodes"], "kernels": told["kernels"], "fuselens_s": fuselens}
    if with_torch:
        torch = medians(torchs)
        compiling = {name: torch[name] - torch["eager"] for name in ("cold", "warm", *EDITS)}
        out["torch_s"] = torch
        out["torch_compile_s"] = compiling
        out["cold_compile_to"] = {name: compiling["cold"] / seconds for name, seconds in fuselens.items()}
        out["same_to_same"] = {name: compiling[name] / fuselens[name] for name in compiling}
    return {**out, "runs_s": {"torch": torchs, "fuselens": ours}}


def rival():
    import torch

    return {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}


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
    parser.add_argument("--no-torch", action="store_true", help="FuseLens alone, on a machine without a GPU")
    args = parser.parse_args()
    only = [n for n in args.only.split(",") if n]
    out = {**({} if args.no_torch else rival()), "cpus": os.cpu_count(), "files": {}}
    for path in sorted((args.gpu_dir / "inputs" / "compile").glob("*.py"), key=lambda p: p.stat().st_size):
        if only and path.stem not in only:
            continue
        out["files"][path.stem] = rounded(measure(args.gpu_dir / "app", path, args.repeats, not args.no_torch))
        pathlib.Path(args.out).write_text(json.dumps(out, indent=1) + "\n")
        print(path.stem, json.dumps(out["files"][path.stem]), file=sys.stderr)
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()

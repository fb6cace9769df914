"""Runs a folder of benchmark jobs on a GPU machine and prints one JSON line a job.

usage: run_jobs.py FOLDER OUT.jsonl [--processes N]

Each job is what the worker sends to its Python executor (standalone output code, eager code, kernels). A job that kills
its process is reported as such and the rest goes on in a new one. Several processes share the GPU: for correctness;
for times use one.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = [HERE.parent.parent / "gpu-worker" / "python", HERE.parent.parent / ".gpu" / "app" / "python"]
CHILD = """
import json, sys, traceback
for p in %r: sys.path.insert(0, p)
from fuselens_worker import benchmark
for line in sys.stdin:
    path = line.strip()
    job = json.load(open(path))
    try:
        result = benchmark.run(job, lambda *a: None)
        row = {"name": job["name"], "ok": True, "us": result["graph"]["medianUs"], "maxError": result["maxError"], "kind": job.get("graph"),
               "against": {k: v["medianUs"] for k, v in result["against"].items()}, "share": result["shareOfCopy"], "kernels": [[k["name"], k["medianUs"], k["bytesPerSecond"], k["config"]] for k in result["kernels"]]}
    except Exception as e:
        row = {"name": job["name"], "ok": False, "error": f"{type(e).__name__}: {e}"[:600], "trace": traceback.format_exc()[-1500:]}
    print("ROW " + json.dumps(row), flush=True)
"""


class Child:
    def __init__(self):
        code = CHILD % [str(p) for p in PACKAGES]
        self.process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def run(self, path):
        try:
            self.process.stdin.write(f"{path}\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith("ROW "):
                    return json.loads(line[4:])
        except BrokenPipeError:
            pass
        return None


def work(paths, out, lock):
    child = Child()
    for path in iter(paths.get, None):
        row = child.run(path)
        if row is None or "CUDA error" in row.get("error", ""):
            child.process.kill()
            child = Child()
            row = row or {"name": pathlib.Path(path).stem, "ok": False, "error": "the process died"}
        with lock:
            out.write(json.dumps(row) + "\n")
            out.flush()
    child.process.kill()


def main(argv):
    import queue
    import threading

    folder, target = argv[0], argv[1]
    processes = int(argv[argv.index("--processes") + 1]) if "--processes" in argv else 1
    paths = queue.Queue()
    for p in sorted(pathlib.Path(folder).glob("*.json")):
        paths.put(str(p))
    for _ in range(processes):
        paths.put(None)
    lock = threading.Lock()
    with open(target, "w") as out:
        threads = [threading.Thread(target=work, args=(paths, out, lock)) for _ in range(processes)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    rows = [json.loads(line) for line in open(target)]
    bad = [r for r in rows if not r["ok"]]
    off = [r for r in rows if r["ok"] and r["maxError"] is not None and r["maxError"] > 0.03]
    print(f"{len(rows)} jobs, {len(bad)} failed, {len(off)} off")
    for r in bad:
        print("FAILED", r["name"], r["error"][:300].replace("\n", " | "))
    for r in off:
        print("OFF", r["name"], r["maxError"])


if __name__ == "__main__":
    main(sys.argv[1:])

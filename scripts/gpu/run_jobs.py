"""Runs a folder of benchmark jobs on a GPU machine and prints one JSON line a job.

usage: run_jobs.py FOLDER OUT.jsonl [--processes N]

Each job is a graph (standalone output code, eager code) or a training step, as scripts/gpu/make_jobs.mjs wrote it. A job
that kills its process is reported as such and the rest goes on in a new one. Several processes share the GPU: nothing is
timed here.
"""

import json
import pathlib
import subprocess
import sys
import threading

# seconds per job, most of them compilation
LIMIT = 240
CHILD = pathlib.Path(__file__).resolve().parent / "job_child.py"


def agrees(row):
    """Within the tolerance, or as near to eager PyTorch or to float64 as torch.compile came on the same inputs."""
    worst = row.get("worst")
    return worst is None or worst <= 1 or worst <= 1.5 * row.get("compile_worst", 0) or near_float64(row)


def near_float64(row):
    return row.get("norm") is not None and row["norm"] <= 1.1 * row["compile_norm"]


class Child:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, str(CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def run(self, path):
        """The job's row; None where the process died over it, or was ended after LIMIT seconds."""
        timer = threading.Timer(LIMIT, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(f"{path}\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith("ROW "):
                    return json.loads(line[4:])
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        return None


def work(paths, out, lock):
    child = Child()
    for path in iter(paths.get, None):
        row = child.run(path)
        if row is None or "CUDA error" in row.get("error", ""):
            child.process.kill()
            child = Child()
            row = row or {"name": pathlib.Path(path).stem, "ok": False, "error": f"the process died, or did not end within {LIMIT} s"}
        with lock:
            out.write(json.dumps(row) + "\n")
            out.flush()
    child.process.kill()


def main(argv):
    import queue

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
    off = [r for r in rows if r["ok"] and not agrees(r)]
    print(f"{len(rows)} jobs, {len(bad)} failed, {len(off)} off")
    for r in bad:
        print("FAILED", r["name"], r["error"][:300].replace("\n", " | "))
    for r in off:
        print("OFF", r["name"], r["worst"], r.get("compile_worst"), "random" if r["random"] else "")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Seconds from handing a job to an executor to its result, for kernels compiled one after another and in parallel processes,
with an empty cache and with the kernels of an earlier executor.

usage: first_result.py JOBS PYTHON_PACKAGES [--repeats 2]

JOBS is what scripts/gpu/first_result_jobs.mjs wrote, PYTHON_PACKAGES the folder of fuselens_worker. Each time is of an
executor of its own, ready before the clock starts: `one_by_one` without compile processes and cache, `parallel` with as many
processes as processors, `kept` the same again with what `parallel` left in the cache. Prints one JSON object a job: medians,
and how many kernels each compiled.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


class Executor:
    """main.py as a worker starts it: jobs on stdin, answers on file descriptor 3."""

    def __init__(self, packages, cache, flags):
        reading, writing = os.pipe()
        command = [sys.executable, "-I", str(packages / "fuselens_worker" / "main.py"), *flags]
        # the shell puts the pipe where main.py looks for it
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3>&{writing} {writing}>&-', "sh", *command],
            stdin=subprocess.PIPE,
            env={**os.environ, "TRITON_CACHE_DIR": str(cache)},
            pass_fds=[writing],
            text=True,
        )
        os.close(writing)
        self.answers = os.fdopen(reading)
        self.expect("ready")

    def expect(self, kind):
        for line in self.answers:
            message = json.loads(line)
            if message["kind"] in ("failed", "unavailable"):
                raise RuntimeError(message["message"])
            if message["kind"] == kind:
                return message
        raise RuntimeError("the executor ended")

    def run(self, job):
        """Seconds from the job to its result."""
        time.sleep(4)  # the compile server is ready as well
        begin = time.perf_counter()
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        self.expect("result")
        return time.perf_counter() - begin

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


def kernels_in(folder):
    return len(list(pathlib.Path(folder).glob("*/*.cubin")))


def timed(packages, cache, flags, job):
    executor = Executor(packages, cache, flags)
    try:
        return executor.run(job)
    finally:
        executor.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs", type=pathlib.Path)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    for path in sorted(options.jobs.glob("*.json")):
        job = json.loads(path.read_text())
        times = {"one_by_one": [], "parallel": [], "kept": []}
        for _ in range(options.repeats):
            with tempfile.TemporaryDirectory() as cache:
                times["one_by_one"].append(timed(options.packages, cache, ["--compile-processes", "0"], job))
                needed = kernels_in(cache)
            with tempfile.TemporaryDirectory() as cache:
                times["parallel"].append(timed(options.packages, cache, [], job))
                compiled = kernels_in(cache)
                times["kept"].append(timed(options.packages, cache, [], job))
                more = kernels_in(cache) - compiled
        row = {"name": path.stem, "kernels": len(job["kernels"]), "compiled": {"one_by_one": needed, "parallel": compiled, "kept": more}}
        print(json.dumps({**row, **{k: round(statistics.median(v), 2) for k, v in times.items()}}), flush=True)


if __name__ == "__main__":
    main()

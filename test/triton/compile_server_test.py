"""Tests of the executor's compile server and kernel cache, with stock Triton and no GPU.

usage: compile_server_test.py JOB.json, what compile_server.mjs made: {module, launches}. With a number instead it is the
server itself, with a stand-in for PyTorch.
"""

import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "gpu-worker" / "python")]

import compile_check

compile_check.stub_torch()
from fuselens_runtime import source
from fuselens_worker import compile_server, compilers, kernel_cache

JOB = {}
TARGET = ["cuda", 90, 32]
compilers.PROGRAM = pathlib.Path(__file__).resolve()


class Target:
    backend, arch, warp_size = TARGET


def compile_all(processes=2):
    """Has a server compile the job; what it told meanwhile."""
    c = compilers.Compilers(processes)
    c.use_target(Target)
    c.start(JOB["module"], JOB["launches"])
    said = []
    c.wait(lambda done, total: said.append((done, total)))
    close(c)
    return said


def close(c):
    c.process.stdin.close()
    c.process.stdout.close()
    c.process.wait(20)


def lookups():
    """Whether each configuration of each launch is found in the cache; those that are not are compiled."""
    import triton

    found = []
    triton.knobs.compilation.listener = lambda cache_hit, **_: found.append(cache_hit)
    try:
        for task in compile_server.tasks_of(JOB["module"], JOB["launches"]):
            task()
    finally:
        triton.knobs.compilation.listener = None
    return found


def files(folder):
    return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in pathlib.Path(folder).rglob("*") if p.is_file()}


class WithCache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.environ["TRITON_CACHE_DIR"] = folder.name


class Server(WithCache):
    def test_a_process_that_launches_finds_all_that_the_server_compiled(self):
        said = compile_all()
        found = lookups()
        self.assertEqual(found, [True] * len(found))
        self.assertGreater(len(found), len(JOB["launches"]))
        self.assertEqual(said, [(n + 1, len(found)) for n in range(len(found))])

    def test_what_is_in_the_cache_is_not_compiled_again(self):
        compile_all()
        before = files(self.folder)
        self.assertEqual(compile_all()[-1][0], len(lookups()))
        self.assertEqual(files(self.folder), before)

    def test_two_servers_share_a_folder(self):
        both = [compilers.Compilers(1) for _ in range(2)]
        for c in both:
            c.use_target(Target)
            c.start(JOB["module"], JOB["launches"])
        for c in both:
            c.wait(lambda done, total: None)
            close(c)
        found = lookups()
        self.assertEqual(found, [True] * len(found))

    def test_output_code_that_cannot_be_loaded_is_left_to_the_executor(self):
        c = compilers.Compilers(1)
        c.start("raise ValueError('no code')", [])
        c.wait(lambda done, total: self.assertEqual(total, 0))
        c.start("", [["no_such_kernel", [0]]])
        c.wait(lambda done, total: self.assertEqual(total, 0))
        close(c)

    def test_a_server_that_dies_is_done_without(self):
        c = compilers.Compilers(1)
        c.start(JOB["module"], JOB["launches"])
        c.process.kill()
        c.wait(lambda done, total: None)
        c.start(JOB["module"], JOB["launches"])
        c.wait(lambda done, total: self.fail("nobody compiles"))

    def test_what_it_started_does_not_hold_up_whoever_waits_for_it(self):
        stdin, asks = os.pipe()
        answers, stdout = os.pipe()
        hang = "import time\ntime.sleep(60)"
        server = os.fork()
        if server == 0:
            os.close(answers)
            os.close(asks)
            compile_server.tasks_of = lambda module, launches: [lambda: exec(module)]
            compile_server.serve(stdin, stdout, 1)
            os._exit(0)
        os.close(stdin)
        os.close(stdout)
        os.write(asks, json.dumps({"module": hang, "launches": []}).encode() + b"\n")
        time.sleep(1)
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        began = time.monotonic()
        self.assertEqual(os.read(answers, 1), b"")
        self.assertLess(time.monotonic() - began, 10)


class Processes(unittest.TestCase):
    def test_tasks_run_at_the_same_time(self):
        (r1, w1), (r2, w2) = os.pipe(), os.pipe()

        def meets(mine, other):
            os.write(mine, b"x")
            os.read(other, 1)

        self.assertEqual(compile_server.Processes(2).run([lambda: meets(w1, r2), lambda: meets(w2, r1)]), 2)

    def test_one_that_dies_or_fails_costs_no_other(self):
        def fails():
            raise ValueError

        ended = []
        tasks = [lambda: os.kill(os.getpid(), signal.SIGSEGV), fails, lambda: os._exit(3), lambda: None]
        self.assertEqual(compile_server.Processes(2).run(tasks, ended.append), 1)
        self.assertEqual(ended, [1, 2, 3, 4])

    def test_they_end_when_nobody_waits_any_more(self):
        stop, asker = os.pipe()
        alive, held = os.pipe()

        def hangs():
            os.write(asker, b"x")
            time.sleep(60)

        self.assertIsNone(compile_server.Processes(2, stop).run([hangs, hangs]))
        os.close(held)
        self.assertEqual(os.read(alive, 1), b"")  # no process holds the other end


class Cache(WithCache):
    def compiled(self):
        compile_all(1)
        return sorted(p for p in pathlib.Path(self.folder).iterdir() if any(p.glob("triton_*.cubin")))

    def test_a_damaged_kernel_is_compiled_again(self):
        kernels = self.compiled()
        next(kernels[0].glob("*.cubin")).write_bytes(b"")
        next(p for p in kernels[1].glob("*.json") if not p.name.startswith("__grp__")).write_text("{")
        next(kernels[2].glob("__grp__*")).write_text("")
        next(kernels[3].glob("*.cubin")).unlink()
        self.assertEqual(lookups().count(False), 4)
        self.assertNotIn(False, lookups())

    def test_the_longest_unused_go_first_down_to_the_limit(self):
        kernels = self.compiled()
        for age, kernel in enumerate(kernels):
            os.utime(kernel, (1000 - age, 1000 - age))
        others = [p for p in pathlib.Path(self.folder).iterdir() if p not in kernels]
        for other in others:
            os.utime(other)
        size = lambda paths: sum(kernel_cache._bytes(p) for p in paths)
        kernel_cache.trim(self.folder, size(others) + size(kernels[:2]), spared=60)
        self.assertEqual([k for k in kernels if k.exists()], kernels[:2])
        self.assertTrue(all(p.exists() for p in others))

    def test_what_a_job_may_be_using_stays(self):
        kernels = self.compiled()
        kernel_cache.trim(self.folder, 0, spared=60)
        self.assertTrue(all(k.exists() for k in kernels))

    def test_a_kernel_that_is_found_counts_as_used(self):
        kernels = self.compiled()
        for p in pathlib.Path(self.folder).iterdir():
            os.utime(p, (1000, 1000))
        lookups()
        kernel_cache.trim(self.folder, 0, spared=60)
        self.assertTrue(all(k.exists() for k in kernels))

    def test_two_may_trim_at_once_and_what_one_left_behind_goes(self):
        for i in range(200):
            entry = pathlib.Path(self.folder, f"kernel{i}")
            entry.mkdir()
            (entry / "k.cubin").write_bytes(bytes(1000))
            os.utime(entry, (1000 + i, 1000 + i))
        pathlib.Path(self.folder, f"{kernel_cache.REMOVED}left").mkdir()
        trim = lambda: kernel_cache.trim(self.folder, 50_000)
        self.assertEqual(compile_server.Processes(4).run([trim] * 4), 4)
        self.assertEqual({p.name for p in pathlib.Path(self.folder).iterdir()}, {f"kernel{i}" for i in range(150, 200)})

    def test_a_folder_that_is_not_there_costs_nothing(self):
        kernel_cache.Trimmer(os.path.join(self.folder, "none")).trim()


if __name__ == "__main__":
    if sys.argv[1].isdigit():
        compile_server.main(sys.argv[1:])
    else:
        JOB = json.loads(pathlib.Path(sys.argv.pop(1)).read_text())
        kernel_cache.mark_uses()
        compile_server.use_target(*TARGET)
        unittest.main()

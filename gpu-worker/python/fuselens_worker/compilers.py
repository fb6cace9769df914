"""The executor's side of the compile server: hands it a job's kernels before they are launched."""

import json
import os
import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent / "compile_server.py"


def default_processes():
    """As many as this process may use processors; 0 where processes can't be forked."""
    if not hasattr(os, "fork"):
        return 0
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Compilers:
    """A server of `processes` processes; with 0 there is none, and kernels compile as they are launched.

    Whatever becomes of the server costs time alone: what it has not compiled, the launch does."""

    def __init__(self, processes):
        self.waiting = False
        self.process = None
        if processes > 0:
            command = [sys.executable, "-I", str(PROGRAM), str(processes)]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def use_target(self, target):
        """Has the server prepare for a triton.backends.compiler.GPUTarget."""
        self._send({"target": [target.backend, target.arch, target.warp_size]})

    def start(self, module, launches):
        """Begins to compile; `wait` ends it."""
        self.waiting = self._send({"module": module, "launches": launches})

    def wait(self, say):
        """Returns when all is compiled; tells `say` how many configurations are, of how many."""
        while self.waiting:
            line = self.process.stdout.readline()
            if not line:
                return self._lost()
            message = json.loads(line)
            self.waiting = message["done"] < message["total"]
            say(message["done"], message["total"])

    def _send(self, message):
        if self.process is None:
            return False
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
            return True
        except OSError:
            self._lost()
            return False

    def _lost(self):
        print("the compile server ended; kernels compile as they are launched", file=sys.stderr)
        self.process.kill()
        self.process.communicate()
        self.process = None
        self.waiting = False

"""Compiles kernels in parallel processes, into Triton's cache. Needs no GPU.

usage: compile_server.py PROCESSES, with TRITON_CACHE_DIR

In: one JSON object a line on stdin. `{"target": [backend, arch, warp size]}` comes first; then, one at a time, `{"module":
text, "launches": [[kernel, [argument, ...]], ...]}`: output code, and what its kernels are launched with (a pointer's address
modulo 16, other arguments' values). Out: one JSON object a line on stdout for each of the latter, `{"done": n, "total": n}`
as configurations of kernels are compiled, until all are.

Each compiles in a process of its own, forked from this one, which has Triton loaded: what makes the compiler crash or hang
costs that kernel alone. Nothing is said of failures: an executor compiles what it does not find in the cache, and reports
what Triton says then.
"""

import json
import os
import pathlib
import selectors
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

# seconds that one kernel may take
LIMIT = 120


class Pointer:
    """Stands for a tensor argument. What triton.jit specialises on is its dtype, and whether 16 divides its address."""

    DTYPES = {
        "fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16",
        "fp8e4nv": "float8_e4m3fn", "fp8e4b8": "float8_e4m3fnuz", "fp8e5": "float8_e5m2", "fp8e5b16": "float8_e5m2fnuz",
        "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "i1": "bool",
        "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
    }  # fmt: skip

    def __init__(self, kind, address):
        self.dtype = f"torch.{self.DTYPES[kind[1:]]}"
        self.address = address

    def data_ptr(self):
        return self.address


def arguments(kernel, values):
    """Stand-ins for the arguments of a launch, in signature order."""
    out = []
    for name, value in zip(kernel.names, values, strict=True):
        kind = kernel.signature[name]
        out.append(Pointer(kind, value) if kind.startswith("*") else float(value) if kind.startswith("fp") else value)
    return out


def use_target(backend, arch, warp_size):
    """Has triton.jit compile for a GPU that need not be there."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class NoGPU(DriverBase):
        @classmethod
        def is_active(cls):
            return True

        def get_current_target(self):
            return GPUTarget(backend, arch, warp_size)

        def get_current_device(self):
            return 0

        def get_current_stream(self, device=0):
            return 0

        def map_python_to_cpp_type(self, ty):
            raise NotImplementedError

        get_active_torch_device = get_benchmarker = map_python_to_cpp_type

    triton.runtime.driver.set_active(NoGPU())


def compile_kernel(kernel, args, config):
    build_launcher(kernel.compile(args, config))


def build_launcher(compiled):
    """The C function that launches the kernel, which Triton compiles at the first launch and keeps beside it."""
    try:
        from triton.backends.nvidia.driver import CudaLauncher

        CudaLauncher(compiled.src, compiled.metadata)
    except Exception:
        pass  # another Triton, or no driver's library to link with: left to the launch


def tasks_of(module, launches):
    """What there is to compile, as functions without arguments."""
    from fuselens_runtime import source

    code = source.load(module, "fuselens_output_code")
    out = []
    for name, values in launches:
        kernel = getattr(code, name)
        args = arguments(kernel, values)
        out += [lambda k=kernel, a=args, c=config: compile_kernel(k, a, c) for config in kernel.candidates()]
    return out


class Processes:
    """Runs tasks in forked processes, some at a time; one that dies is that task's end and nothing else's."""

    def __init__(self, most, stop_at=None, answers=None):
        self.most = most
        # where answers go, which ends with this process: no other holds it open
        self.answers = answers
        self.selector = selectors.DefaultSelector()
        # whoever asked is gone when its pipe can be read, as it sends nothing before it has its answer
        self.stop_at = stop_at
        if stop_at is not None:
            self.selector.register(stop_at, selectors.EVENT_READ)

    def run(self, tasks, say=lambda done: None):
        """Tells `say` how many tasks have ended, and returns how many have succeeded; None where nobody waits any more."""
        waiting, running, ended, good = list(reversed(tasks)), {}, 0, 0
        while waiting or running:
            while waiting and len(running) < self.most:
                pid, pipe = self._start(waiting.pop())
                running[pipe] = pid
                self.selector.register(pipe, selectors.EVENT_READ)
            for key, _ in self.selector.select():
                if key.fileobj == self.stop_at:
                    for pid in running.values():
                        os.kill(pid, signal.SIGKILL)
                    return None
                self.selector.unregister(key.fileobj)
                os.close(key.fileobj)
                _, status = os.waitpid(running.pop(key.fileobj), 0)
                ended += 1
                good += status == 0
                say(ended)
        return good

    def _start(self, task):
        """The process, and a pipe that can be read once it has ended, however it does."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            return pid, reading
        status = 1
        try:
            signal.alarm(LIMIT)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            if self.answers is not None:
                os.close(self.answers)
            task()
            status = 0
        finally:
            os._exit(status)


def warm_up(target):
    """Sets Triton up for the target. Its first look into the cache reads all of Triton: once here, not in every process.
    It finds what a process has compiled, so that no thread of the compiler's runs here, which no fork would have."""
    use_target(*target)
    from fuselens_worker.first_kernel import first_kernel

    look = lambda: first_kernel.warmup(Pointer("*i32", 0), grid=(1,))
    if Processes(1).run([look]):
        look()


def requests(stream):
    """JSON objects, one a line, read from a file descriptor."""
    text = b""
    while True:
        line, end, rest = text.partition(b"\n")
        if end:
            text = rest
            yield json.loads(line)
            continue
        piece = os.read(stream, 1 << 20)
        if not piece:
            return
        text += piece


def serve(stdin, stdout, most):
    processes = Processes(most, stdin, stdout)
    say = lambda **message: os.write(stdout, json.dumps(message).encode() + b"\n")
    for request in requests(stdin):
        if "target" in request:
            warm_up(request["target"])
            continue
        try:
            tasks = tasks_of(request["module"], request["launches"])
        except Exception:
            tasks = []  # the executor will say what is wrong with it
        total = len(tasks)
        if processes.run(tasks, lambda done: done < total and say(done=done, total=total)) is None:
            return
        say(done=total, total=total)


def main(argv):
    # the generated code may print; what is said goes another way
    stdout = os.dup(1)
    os.dup2(2, 1)
    from fuselens_worker import kernel_cache

    kernel_cache.mark_uses()
    try:
        serve(0, stdout, int(argv[0]))
    except BrokenPipeError:
        pass  # whoever asked is gone


if __name__ == "__main__":
    main(sys.argv[1:])

"""Runs templates' kernels in Triton's interpreter, on NumPy arrays, and compares with NumPy in float64.

usage: interpret.py DIR

DIR holds standalone output codes named FUNCTION__ANYTHING.py, FUNCTION one of test/triton/templates.py. Needs Triton and
NumPy before 2.4 (the interpreter makes numbers of arrays of one element); no PyTorch, no GPU. The interpreter knows no
products of bfloat16 parts: float32 products are run in float32.
"""

import importlib.util
import math
import os
import pathlib
import re
import sys
import warnings

os.environ["TRITON_INTERPRET"] = "1"
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "gpu-worker" / "python")]
warnings.filterwarnings("ignore")

import compile_check

compile_check.stub_torch()
import numpy as np
from fuselens_runtime import heuristics, libdevice

libdevice.fast_dividef = lambda x, y: x / y  # the interpreter has no libdevice
heuristics.multiprocessors = lambda: 3  # fewer than there are tiles, so that programs walk


class Storage:
    def __init__(self, array):
        self.array = array

    def data_ptr(self):
        return self.array.ctypes.data

    def cpu(self):
        return self

    def copy_(self, other):
        pass


class Argument:
    """What the interpreter asks of a tensor."""

    def __init__(self, array):
        self.array, self.dtype, self.device = array, array.dtype, "cpu"

    def data_ptr(self):
        return self.array.ctypes.data

    def untyped_storage(self):
        return Storage(self.array)

    def storage_offset(self):
        return 0

    def size(self):
        return self.array.shape

    def stride(self):
        return [s // self.array.itemsize for s in self.array.strides]

    def new_empty(self, *_, **__):
        return Argument(self.array)

    def set_(self, *_):
        pass


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def attention(q, k, v, bias=0.0, causal=False):
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + bias
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def gelu(u):
    return u * 0.5 * (1 + np.vectorize(math.erf)(u / math.sqrt(2)))


def gelu_tanh(u):
    return 0.5 * u * (1 + np.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3)))


def silu(x):
    return x * sigmoid(x)


# shapes in the order of the parameters, the result's dtype (or that and the inputs'), what is computed
CASES = {
    "linear_relu": ([(70, 36), (44, 36), (44,)], "f4", lambda x, w, b: np.maximum(x @ w.T + b, 0)),
    "gate": ([(70, 40), (56, 40), (56, 40)], "f2", lambda x, a, b: sigmoid(x @ a.T) * (x @ b.T)),
    "batched": ([(3, 17, 40), (3, 21, 40), (3, 1, 21)], "f4", lambda q, k, c: np.maximum(0.5 * (q @ k.swapaxes(1, 2)) + 2 * c, 0) + 1),
    "gelu16": ([(300, 72), (72, 136)], "f2", lambda x, w: gelu(x @ w)),
    "tanh16": ([(300, 72), (72, 136)], "f2", lambda x, w: gelu_tanh(x @ w)),
    "long_sum": ([(17, 2000), (45, 2000), (45,)], "f2", lambda x, w, b: gelu(x @ w.T + b)),
    "dequantised": ([(17, 2000), (45, 2000), (45,)], ("f2", "f2", "i1", "f2"), lambda x, w, s: np.maximum(x @ (w * s[:, None]).T, 0)),
    "gated": ([(33, 72), (33, 72), (40, 72)], "f2", lambda g, u, w: (silu(g) * u) @ w.T),
    "cast": ([(70, 36), (36, 44)], ("f2", "f4", "f4"), lambda x, w: x @ w),
    "turned": ([(3, 50, 33), (3, 40, 50)], "f4", lambda x, w: np.maximum(x, 0).swapaxes(1, 2) @ (w.swapaxes(1, 2) * 2)),
    "padded": ([(33, 45), (50, 40)], "f4", lambda x, w: np.pad(x, ((0, 0), (3, 2))) @ w),
    "odd_depth": ([(70, 83), (83, 48)], "f2", lambda x, w: np.maximum(x @ w, 0)),
    "odd_edge": ([(70, 40), (45, 40)], "f2", lambda x, w: np.maximum(x @ w.T, 0)),
    "turned_result": ([(72, 40), (200, 40)], "f2", lambda x, w: np.maximum(x @ w.T, 0).T.copy()),
    "turned_batch": ([(3, 24, 40), (3, 40, 136)], "f2", lambda x, w: np.maximum(x @ w, 0).swapaxes(1, 2).copy()),
    "shared": ([(3, 40, 72), (48, 40)], "f2", lambda x, w: np.maximum(x.swapaxes(1, 2) @ w.T, 0)),
    "places": ([(2, 40, 4, 8), (40, 136)], "f2", lambda x, w: np.maximum(x.transpose(0, 2, 3, 1).reshape(-1, 40) @ w, 0)),
    "bias_attention": ([(2, 3, 40, 32), (2, 3, 56, 32), (2, 3, 56, 32), (40, 56)], "f2", attention),
    "causal_attention": ([(2, 4, 200, 16), (2, 2, 200, 16), (2, 2, 200, 16)], "f2", lambda q, k, v: attention(q, k, v, causal=True)),
}
# |difference| over mean |result|: what storing a half loses, and float32 sums
TOLERANCE = {"f2": 1e-2, "f4": 1e-5}


def arguments(text, shapes, dtypes):
    """Random inputs by parameter, and the same by the names that the code gives its arguments."""
    random = np.random.default_rng(0)
    inputs = [(random.standard_normal(s) * (30 if d == "i1" else 1)).astype(d) for s, d in zip(shapes, dtypes)]
    names = re.search(r"^ +([\w, ]+) = args$", text, re.M).group(1).rstrip(",").split(", ")
    sizes = [eval(s) for s in re.findall(r"rand_strided\((\([^)]*\))", text)]
    left, named = list(inputs), {}
    for name, size in zip(names, sizes):
        at = next(i for i, a in enumerate(left) if a.shape == tuple(size))
        named[name] = left.pop(at)
    return inputs, named


ALLOCATES = re.compile(r"(\w+) = empty_strided_cuda\((\([^)]*\)), (\([^)]*\)), torch\.(\w+)\)$")
REUSES = re.compile(r"(\w+) = (\w+); del \2")
LAUNCHES = re.compile(r"(\w+)\.run\(([^)]*), stream=")
RETURNS = re.compile(r"return \((\w+), \)$")


def call(module, text, named, which):
    """What the code's `call` does, each kernel under its first or last configuration."""
    buffers = dict(named)
    for line in map(str.strip, text.split("def call(self, args):")[1].split("\n")):
        if found := ALLOCATES.match(line):
            name, size, stride, dtype = found.groups()
            size, stride = eval(size), eval(stride)
            count = 1 + sum((n - 1) * s for n, s in zip(size, stride))
            memory = np.full(count, np.nan, dtype)
            buffers[name] = np.lib.stride_tricks.as_strided(memory, size, [s * memory.itemsize for s in stride])
        elif found := REUSES.match(line):
            buffers[found[1]] = buffers.pop(found[2])
        elif found := LAUNCHES.match(line):
            kernel = getattr(module, found[1])
            args = [int(p) if p.isdigit() else Argument(buffers[p]) for p in found[2].split(", ")]
            config = kernel.configs[which]
            grid = heuristics._grid(kernel.grid, {**dict(zip(kernel.names, args)), **config.kwargs}, kernel.grid_data)
            kernel.fn[grid](*args, **config.kwargs)
        elif found := RETURNS.match(line):
            return buffers[found[1]]
    raise ValueError("nothing is returned")


def check(path):
    name = path.stem.split("__")[0]
    shapes, dtypes, f = CASES[name]
    dtype, *own = [dtypes] * (len(shapes) + 1) if isinstance(dtypes, str) else dtypes
    path.write_text(path.read_text().replace('input_precision="bf16x6"', 'input_precision="ieee"'))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = path.read_text()
    inputs, named = arguments(text, shapes, own)
    expected = f(*[a.astype("f8") for a in inputs])
    worst = 0.0
    for which in (0, -1):
        out = call(module, text, named, which)
        error = np.abs(out - expected).max() / np.abs(expected).mean()
        worst = max(worst, math.inf if math.isnan(error) else error)
    return worst, TOLERANCE[dtype]


def main(folder):
    failed = 0
    paths = sorted(pathlib.Path(folder).glob("*.py"))
    for path in paths:
        try:
            error, limit = check(path)
        except Exception as e:
            error, limit = math.inf, 0.0
            print(f"{path.stem}: {type(e).__name__}: {str(e)[:300]}")
        if error > limit:
            failed += 1
            print(f"{path.stem}: error {error:.1e}, no more than {limit:.0e} is right")
    print(f"{len(paths)} graphs run, {failed} wrong")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Launching and tuning of generated kernels.

`kernel(...)` wraps a triton.jit function: it works out the grid from the arguments by name, tries the candidate
configurations on the first call, and remembers the fastest per set of sizes.
"""

import functools

import torch
import triton

MAX_Y_GRID = 65535


def cdiv(a, b):
    return -(-a // b)


def _grid(kind, values, data):
    """Grid of programs for one launch; `values` holds sizes and block sizes by name."""
    x = lambda: cdiv(values["xnumel"], values["XBLOCK"])
    if kind == "Grid1D":
        return (x(), 1, 1)
    if kind == "Grid2D":
        return (x(), cdiv(values["ynumel"], values["YBLOCK"]), 1)
    if kind == "PairedTilesGrid":
        # a square of tiles, those of its diagonal twice
        return (x(), cdiv(values["ynumel"], values["YBLOCK"]) + 1, 1)
    if kind == "Grid2DWithYZOverflow":
        y = cdiv(values["ynumel"], values["YBLOCK"])
        z = cdiv(y, MAX_Y_GRID)
        return (x(), cdiv(y, z), z)
    if kind == "Grid3D":
        return (x(), cdiv(values["ynumel"], values["YBLOCK"]), cdiv(values["znumel"], values["ZBLOCK"]))
    if kind == "MixOrderReductionGrid":
        return (cdiv(values["xnumel"], values["RSPLIT_SIZE"]), 1, 1)
    if kind == "TransposeReductionGrid":
        # one program per block of columns and piece; pieces without rows write neutral results
        return (x(), data["pieces"], 1)
    if kind == "GemmGrid":
        tiles = cdiv(values["ynumel"], values["YBLOCK"]) * x() * values.get("znumel", 1)
        return (min(tiles, multiprocessors()) if data["walks"] else tiles, 1, 1)
    if kind == "SplitScanGrid":
        return (cdiv(values["r0_numel"], values["R0_BLOCK"]), values["xnumel"], 1)
    if kind == "SequentialComboKernelGrid":
        n = data["num_kernels"]
        x_block = values.get("XBLOCK", data.get("XBLOCK"))
        y_block = values.get("YBLOCK", data.get("YBLOCK"))
        blocks = sum(cdiv(_numel(values, data, "x", i), x_block) for i in range(n))
        ys = [_numel(values, data, "y", i) for i in range(n) if _has(values, data, "y", i)]
        return (blocks, max(cdiv(y, y_block) for y in ys) if ys else 1, 1)
    if kind == "SequentialFlattenComboKernelGrid":
        blocks = []
        for i in range(data["num_kernels"]):
            blocks.append(cdiv(_numel(values, data, "x", i), values[f"XBLOCK_{i}"]))
            for axis in "yz":
                if _has(values, data, axis, i):
                    blocks[i] *= cdiv(_numel(values, data, axis, i), values[f"{axis.upper()}BLOCK_{i}"])
        turns = [data[f"turn_{i}"] for i in range(len(blocks)) if f"turn_{i}" in data]
        if turns:
            return (sum(turns) * max(cdiv(b, t) for b, t in zip(blocks, turns)), 1, 1)
        return (sum(blocks), 1, 1)
    raise ValueError(f"unknown grid {kind}")


def _numel(values, data, axis, i):
    name = f"{axis}numel_{i}"
    return values[name] if name in values else data[name]


def _has(values, data, axis, i):
    return f"{axis}numel_{i}" in values or f"{axis}numel_{i}" in data


@functools.cache
def multiprocessors():
    return torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count


def _scratch(size, alignment, stream):
    """Device memory that Triton asks for at a launch: room for tensor descriptors."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


@functools.cache
def _device(index):
    return torch.cuda.get_device_properties(index)


def _halved(config):
    """The configuration with half the block of a loop; None where a program's rows are short already."""
    block = config.kwargs.get("R0_BLOCK", 0)
    if block <= 64:
        return None
    return triton.Config({**config.kwargs, "R0_BLOCK": block // 2}, num_warps=config.num_warps, num_stages=config.num_stages)


def _too_few_at_once(config, compiled, rows):
    """Whether registers let so few programs run at once that they need a second turn. `rows`: how many are reduced."""
    registers = getattr(compiled, "n_regs", None)
    if not registers:
        return False
    gpu = _device(torch.cuda.current_device())
    if registers <= gpu.regs_per_multiprocessor // gpu.max_threads_per_multi_processor:
        return False
    at_once = max(gpu.regs_per_multiprocessor // (registers * gpu.warp_size * config.num_warps), 1)
    return cdiv(rows, config.kwargs.get("XBLOCK", 1)) > at_once * gpu.multi_processor_count


class Kernel:
    """A generated kernel. `run(*args, stream=...)` takes tensors, sizes and numels in signature order."""

    def __init__(self, fn, signature, grid, configs, mutated=(), grid_data=None, size_hints=None, tuned=True):
        self.fn = fn
        self.signature = signature
        # numels and numbers that a kernel is compiled for are arguments too; configurations have the rest
        self.names = [n for n in signature if n not in configs[0].kwargs]
        self.pointers = [i for i, n in enumerate(self.names) if signature[n].startswith("*")]
        self.integers = [i for i, n in enumerate(self.names) if not signature[n].startswith("*")]
        self.constants = [n for n in signature if n not in self.names]
        # arguments and then constants is the order in which a compiled kernel takes them
        self.in_order = self.names + self.constants == list(signature)
        self.grid = grid
        self.grid_data = grid_data or {}
        self.configs = configs
        self.tuned = tuned
        self.mutated = set(mutated)
        self.size_hints = size_hints or {}
        self.best = {}
        self.ready = {}
        self.best_config = None

    def _prepared(self, args, config):
        """Grid of a launch; None where there is nothing to do."""
        values = dict(zip(self.names, args))
        values.update(config.kwargs)
        grid = _grid(self.grid, values, self.grid_data)
        if 0 in grid:
            return None
        if self.grid_data.get("walks"):
            triton.set_allocator(_scratch)
        return grid

    def _launch(self, args, config):
        """Launches through triton.jit, which compiles at need. Returns the compiled kernel; None where nothing is to do."""
        grid = self._prepared(args, config)
        if grid is None:
            return None
        return self.fn[grid](*args, **config.kwargs, num_warps=config.num_warps, num_stages=config.num_stages)

    def compile(self, args, config):
        """What a launch would compile, without the launch; no GPU is needed."""
        return self.fn.warmup(*args, grid=(1,), **config.kwargs, num_warps=config.num_warps, num_stages=config.num_stages)

    def candidates(self, wanted=lambda config: True):
        """All configurations that tuning may try: those given, and beside each loop's that is `wanted` so one with half its
        block."""
        out = list(self.configs)
        for config in self.configs if self.grid == "Grid1D" and "R0_BLOCK" in self.signature else ():
            half = _halved(config)
            if half is not None and all(half.all_kwargs() != c.all_kwargs() for c in out) and wanted(config):
                out.append(half)
        return out

    def _with_smaller(self, args):
        """The candidates, halves only of those that fill the registers."""
        rows = dict(zip(self.names, args)).get("xnumel", 1)

        def fills(config):
            try:
                return _too_few_at_once(config, self._launch(args, config), rows)
            except triton.runtime.errors.OutOfResources:
                return False

        return self.candidates(fills)

    def _tune(self, args):
        """Fastest configuration that compiles. What a run writes over is copied first, so that tuning changes nothing."""
        if not self.tuned or (len(self.configs) == 1 and "R0_BLOCK" not in self.signature):
            return self.configs[0]
        kept = {i: args[i].clone() for i, n in enumerate(self.names) if n in self.mutated and hasattr(args[i], "clone")}
        best, fastest, failure = None, float("inf"), None
        configs = self._with_smaller(args)
        for config in configs if len(configs) > 1 else ():
            try:
                again = self._relaunch(self._launch(args, config), args, config) or (lambda args, stream: self._launch(args, config))
                stream = torch.cuda.current_stream().cuda_stream
                time = triton.testing.do_bench(lambda: again(args, stream), warmup=2, rep=10, return_mode="median")
            except Exception as error:  # too many registers or too much shared memory for this GPU
                if "CUDA error" in str(error):
                    raise
                failure = error
                continue
            if time < fastest:
                best, fastest = config, time
        for i, value in kept.items():
            args[i].copy_(value)
        if len(configs) == 1:
            return configs[0]
        if best is None:
            raise failure
        return best

    def _relaunch(self, compiled, args, config):
        """A launch of what is compiled, without triton.jit's work on every argument; None where it can't be done."""
        if not self.in_order or not hasattr(compiled, "__getitem__"):
            return None
        tail = tuple(config.kwargs[n] for n in self.constants)
        launch = compiled[self._prepared(args, config)]
        return lambda args, stream: launch(*args, *tail, stream=stream)

    def run(self, *args, stream=None):
        # what triton.jit specialises on: values of integers, and whether pointers are aligned
        key = [args[i] for i in self.integers]
        for i in self.pointers:
            key.append(args[i].data_ptr() & 15)
        key = tuple(key)
        launch = self.ready.get(key)
        if launch is not None and stream is not None:
            launch(args, stream)
            return
        sizes = tuple(args[i] for i in self.integers)
        config = self.best.get(sizes)
        if config is None:
            config = self.best[sizes] = self._tune(args)
        self.best_config = config
        self.ready[key] = self._relaunch(self._launch(args, config), args, config)


def kernel(signature, grid, configs, mutated=(), grid_data=None, size_hints=None, tuned=True):
    """Decorator above @triton.jit; arguments as the compiler printed them. Not `tuned`: the first configuration is taken."""
    return lambda fn: Kernel(fn, signature, grid, configs, mutated, grid_data, size_hints, tuned)

"""Runs one graph's output code: compiles its kernels, compares its results with eager PyTorch, times it and its rivals."""

import inspect

import torch

from fuselens_runtime import source
from fuselens_worker import device
from fuselens_worker.timing import time_cold, time_graph, timing

SEED = 0


def load(text, name):
    """The generated code as a module; it is the only code that ever runs here."""
    return source.load(text, name)


def copy(a):
    """The same values in the same strides, which clone() gives up where rows are padded."""
    if not isinstance(a, torch.Tensor):
        return a
    if 0 in a.stride():
        return a.clone()
    return torch.empty_strided(a.size(), a.stride(), dtype=a.dtype, device=a.device).copy_(a)


def fresh(args):
    return [copy(a) for a in args]


def names_of(eager):
    """The parameters of the eager function, in the order of the inputs; none where there is no such function."""
    return list(inspect.signature(eager).parameters) if eager is not None else []


def fill(args, names=(), distinct=False):
    """Random inputs, never zeros. Weights of modules are scaled as initialisers do, so that sums neither swell nor vanish.

    Integers stay small so that they index validly. `distinct`: together they name no place of a tensor twice, as long as
    its sizes allow; for graphs that write where integers say, and whose result would else hang on the order of writes.
    """
    torch.manual_seed(SEED)
    sides = [n for a in args if isinstance(a, torch.Tensor) and a.is_floating_point() for n in a.shape if n > 1]
    base, step = min(sides, default=2), 1
    for i, a in enumerate(args):
        if not isinstance(a, torch.Tensor):
            continue
        if a.is_floating_point():
            values = torch.randn(a.shape, device=a.device, dtype=torch.float32)
            if i < len(names) and "_parameters_" in names[i] and a.dim() > 1 and a.numel():
                values *= (a.shape[0] / a.numel()) ** 0.5
            a.copy_(values.to(a.dtype))
        elif distinct and a.dtype != torch.bool and a.numel():
            places = torch.arange(a.numel(), device=a.device).reshape(a.shape)
            a.copy_(places // step % base)
            step *= base
    return args


def largest_error(ours, reference):
    """Largest |difference| / (|reference| + mean |reference|) over all elements of all outputs; NaN agrees with NaN."""
    worst = 0.0
    for a, b in zip(ours, reference):
        if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor) or a.shape != b.shape or not a.numel():
            continue
        x, y = a.double(), b.double()
        same = (x == y) | (x.isnan() & y.isnan())
        scale = y.abs().nan_to_num(0, 0, 0)
        error = torch.where(same, torch.zeros_like(x), (x - y).abs() / (scale + scale.mean() + 1e-30))
        worst = max(worst, error.nan_to_num(float("inf")).max().item())
    return worst


def run(job, progress, compilers):
    progress(0, 4, "compiling kernels")
    code = load(job["standalone"], "fuselens_output_code")
    compilers.start(job["standalone"], job["launches"])
    eager = load(job["eager"], "fuselens_eager").forward if job.get("eager") else None
    args = fill(code.get_args(), names_of(eager))
    compilers.wait(lambda done, total: progress(done / max(1, total), 4, f"compiling kernels: {done} of {total}"))
    outputs = code.call(fresh(args))
    torch.cuda.synchronize()
    rivals, error = {}, None
    if eager is not None:
        progress(1, 4, "running eager PyTorch")
        with torch.no_grad():
            reference = eager(*fresh(args))
            reference = reference if isinstance(reference, (tuple, list)) else (reference,)
            error = largest_error(outputs, reference)
            rivals = {name: eager if name == "eager" else torch.compile(eager) for name in job["against"]}
    del outputs
    progress(2, 4, "measuring")
    moved = job.get("bytes") or sum(k["bytes"] for k in job["kernels"])
    # a graph that writes its inputs would grow over the runs; the values do not change the time
    once = lambda: code.call(list(args))
    cold = time_cold(once, job["seconds"], job["min_runs"])
    replay = time_graph(once, job["seconds"] / 4, job["min_runs"])
    against = {}
    with torch.no_grad():
        for name, fn in rivals.items():
            progress(3, 4, f"measuring {name}")
            fn(*args)
            against[name] = timing(time_cold(lambda: fn(*args), job["seconds"], job["min_runs"]), moved)
            graph = time_graph(lambda: fn(*args), job["seconds"] / 4, job["min_runs"])
            if graph:
                against[f"{name} (graph)"] = timing(graph, moved)
    whole = timing(cold, moved)
    kernels = kernel_times(code, once, job) if job["per_kernel"] else []
    inside = sum(k["medianUs"] for k in kernels)
    if replay:
        against["ours (graph)"] = timing(replay, moved)
    return {
        "kind": "benchmark",
        "where": torch.cuda.get_device_name(0),
        "graph": whole,
        "overheadUs": max(0.0, whole["medianUs"] - inside) if kernels else 0.0,
        "kernels": kernels,
        "shareOfCopy": whole["bytesPerSecond"] / device.copy_bandwidth(),
        "maxError": error,
        "against": against,
    }


def kernel_times(code, once, job):
    """Each generated kernel alone: the sum over all launches of its name in one run of the graph (`once`).

    Each launch is timed where it stands, with the tensors that the run gives it: kept for later, they would fill the memory.
    """
    kernels = [k for k in job["kernels"] if hasattr(getattr(code, k["name"], None), "run")]
    names = [k["name"] for k in kernels]
    launches = dict.fromkeys(names, 0)

    def count(name, launch):
        launches[name] += 1
        launch()

    on_each_launch(code, names, once, count)
    times = {name: [] for name in names}

    def measure(name, launch):
        times[name].append(time_cold(launch, job["seconds"] / 4 / launches[name], job["min_runs"]))

    on_each_launch(code, names, once, measure)
    out = []
    for k in kernels:
        name = k["name"]
        if not times[name]:
            continue
        config = str(getattr(getattr(code, name), "best_config", "") or "")
        out.append({"name": name, "config": config, **timing([sum(run) for run in zip(*times[name])], k["bytes"])})
    return out


def on_each_launch(code, names, once, do):
    """Runs the graph with `do(name, launch)` in place of each launch of these kernels; `launch()` launches."""
    originals = {name: getattr(code, name).run for name in names}

    def stand_in(name):
        return lambda *args, **kwargs: do(name, lambda: originals[name](*args, **kwargs))

    try:
        for name in names:
            getattr(code, name).run = stand_in(name)
        once()
        torch.cuda.synchronize()
    finally:
        for name, run_ in originals.items():
            getattr(code, name).run = run_

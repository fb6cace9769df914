"""What the GPU is, and how fast it copies."""

import functools

import torch
import triton

COPY_BYTES = 1 << 30
TARGETS = {"H200": "h200", "H100": "h100", "A100": "a100", "B200": "b200", "L4": "l4", "4090": "rtx4090"}


@functools.cache
def copy_bandwidth():
    """Bytes read plus written per second by a copy of 1 GiB; the median of many."""
    from fuselens_worker.timing import time_cold

    a = torch.empty(COPY_BYTES // 4, dtype=torch.float32, device="cuda")
    b = torch.empty_like(a)
    times = time_cold(lambda: b.copy_(a), seconds=0.2, min_runs=10)
    return 2 * COPY_BYTES / (sorted(times)[len(times) // 2] * 1e-6)


def target():
    """What Triton compiles for here."""
    return triton.runtime.driver.active.get_current_target()


def describe():
    props = torch.cuda.get_device_properties(0)
    target = next((t for name, t in TARGETS.items() if name in props.name), None)
    return {
        "name": "cuda:0",
        "kind": "cuda",
        "title": f"{props.name}, torch {torch.__version__.split('+')[0]}, triton {triton.__version__}",
        "target": target,
        "threads": props.multi_processor_count,
        "memoryBytes": props.total_memory,
        "copyBytesPerSecond": copy_bandwidth(),
    }

"""Times on the GPU, in microseconds: CUDA events with the L2 flushed between runs, and CUDA-graph replays."""

import functools
import time

import torch

MAX_RUNS = 2000
GRAPH_REPEATS = 20


@functools.cache
def _flush_buffer():
    size = torch.cuda.get_device_properties(0).L2_cache_size or 50 << 20
    return torch.empty(max(2 * size, 256 << 20) // 4, dtype=torch.int32, device="cuda")


def time_cold(fn, seconds, min_runs):
    """Each run after the L2 was overwritten; the time between two events around it."""
    flush = _flush_buffer()
    for _ in range(2):
        fn()
    torch.cuda.synchronize()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < MAX_RUNS and (len(times) < min_runs or time.perf_counter() < end):
        batch = []
        for _ in range(min(10, min_runs)):
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            flush.zero_()
            start.record()
            fn()
            stop.record()
            batch.append((start, stop))
        torch.cuda.synchronize()
        times += [a.elapsed_time(b) * 1e3 for a, b in batch]
    return times


def time_graph(fn, seconds, min_runs):
    """Replays of a CUDA graph of many runs: no launch gaps, warm L2. None where the work can't be captured."""
    try:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            fn()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(GRAPH_REPEATS):
                fn()
    except Exception:
        torch.cuda.synchronize()
        return None
    times = []
    end = time.perf_counter() + seconds
    graph.replay()
    torch.cuda.synchronize()
    while len(times) < MAX_RUNS and (len(times) < min_runs or time.perf_counter() < end):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) * 1e3 / GRAPH_REPEATS)
    return times


def timing(times, moved):
    ordered = sorted(times)
    at = lambda q: ordered[min(len(ordered) - 1, int(q * len(ordered)))]
    median = at(0.5)
    return {"medianUs": median, "p20Us": at(0.2), "p80Us": at(0.8), "count": len(ordered), "bytesPerSecond": moved / (median * 1e-6) if median else 0.0}

#!/usr/bin/env python3
"""Records what torch.compile makes of programs, on a machine without a GPU.

usage: record.py [--out RECORD.json] [--logs FOLDER] [--jobs N] [--timeout SECONDS] PROGRAM.py ...

Needs torch 2.11.0 (the CUDA build) and triton 3.6.0 in the Python that runs it; pretend_gpu.py says what the GPU is and
what can't be known without one. Each program runs in a process of its own, forked from one that has torch loaded.
RECORD.json gets a program a line, in the form of test/recorded/programs.json: per graph that Inductor compiled its inputs,
ATen nodes (tuple items left out), scheduler nodes after fusion, and bytes moved. FOLDER gets NAME.log: the graphs, IR,
fusion rounds, schedule and output code in TORCH_LOGS's form, for test/tools/agree_logs.mjs. Exit status 1 where a
program ended with an error or had no end.
"""
import argparse
import itertools
import json
import os
import re
import signal
import sys
import time
import traceback
import types
from pathlib import Path

import pretend_gpu

VERSION = "2.11.0"
ARTIFACTS = ("pre_grad_graphs,aot_graphs,aot_joint_graph,post_grad_graphs,ir_pre_fusion,ir_post_fusion,fusion,schedule,"
             "output_code,graph_breaks,recompiles")


def options(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=180)
    parser.add_argument("programs", nargs="+", type=Path)
    return parser.parse_args(argv)


def own_lines(node, path):
    """The program's lines that a node comes from."""
    trace = node.meta.get("stack_trace") or ""
    return [int(m[2]) for m in re.finditer(r'File "([^"]+)", line (\d+), in ', trace) if os.path.abspath(m[1]) == path]


def first_function(nodes, path):
    """The outermost function of the program in the first node that has one."""
    for node in nodes:
        for m in re.finditer(r'File "([^"]+)", line \d+, in (\S+)', node.meta.get("stack_trace") or ""):
            if os.path.abspath(m[1]) == path:
                return m[2]
    return "?"


def tensor_row(node):
    import torch

    row = {"name": node.name, "shape": None, "stride": None, "dtype": None}
    if node.op == "call_function":
        row["target"] = str(node.target)
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        row |= {"shape": [str(s) for s in value.shape], "stride": [str(s) for s in value.stride()], "dtype": str(value.dtype)}
    return row


def kernel_row(snode, path):
    origins = {o.name: o for sub in snode.get_nodes() if getattr(sub, "node", None) is not None for o in sub.node.get_origins()}
    row = {
        "name": snode.get_name(),
        "type": type(snode).__name__,
        "origins": sorted(origins),
        "lines": sorted({line for o in origins.values() for line in own_lines(o, path)}),
    }
    extern = getattr(getattr(snode, "node", None), "python_kernel_name", None)
    if extern:
        row["extern"] = extern
    return row


def record(path):
    """Runs one program; what Inductor compiled."""
    import torch
    import torch._dynamo.utils
    import warnings
    from torch._inductor.graph import GraphLowering

    here = os.path.abspath(path)
    graphs = []
    codegen = GraphLowering.codegen

    def recording(self):
        out = codegen(self)
        nodes = list(self.orig_gm.graph.nodes)
        try:
            moved = int(self.count_bytes()[0])
        except Exception:  # symbolic sizes can't always be counted
            moved = None
        graphs.append({
            "name": first_function(nodes, here),
            "kind": "backward" if self.is_backward else "inference" if self.is_inference else "forward",
            "inputs": [tensor_row(n) for n in nodes if n.op == "placeholder"],
            "aten": [tensor_row(n) for n in nodes if n.op == "call_function" and "getitem" not in str(n.target)],
            "kernels": [kernel_row(n, here) for n in self.scheduler.nodes],
            "bytes": moved,
        })
        return out

    GraphLowering.codegen = recording
    warnings.simplefilter("ignore")
    result = {"graphs": graphs}
    program = sys.modules["__main__"] = types.ModuleType("__main__")
    program.__file__ = here
    try:
        exec(compile(Path(path).read_text(), here, "exec"), vars(program))
    except Exception as error:
        result["error"] = f"{type(error).__name__}: {error}"[:600]
        traceback.print_exc()
    result["breaks"] = sum(torch._dynamo.utils.counters["graph_break"].values())
    return result


def warm_up():
    """Compiles one graph, so that what torch loads late is loaded before the forks. No backward: its threads can't be forked."""
    import torch
    import torch._dynamo
    from torch._functorch import aot_autograd

    quiet, stderr = os.open(os.devnull, os.O_WRONLY), os.dup(2)
    os.dup2(quiet, 2)
    linear = torch.nn.Linear(16, 16).cuda()
    with torch.no_grad():
        torch.compile(lambda x: linear(x).softmax(-1))(torch.ones(8, 16, device="cuda"))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    aot_autograd.AOT_COUNTER = itertools.count()
    os.dup2(stderr, 2)


def start(path, log):
    """Forks a process that records `path` into a pipe and logs into `log`. Its id and the pipe's end to read."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        os.set_blocking(reader, False)
        return pid, reader
    status = 1
    try:
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(target, 1)
        os.dup2(target, 2)
        with os.fdopen(writer, "w") as out:
            json.dump(record(path), out, sort_keys=True)
        status = 0
    finally:
        os._exit(status)


def collect(jobs, timeout):
    """Waits for the first of `jobs` to end; its key and record."""
    while True:
        for path, job in jobs.items():
            try:
                chunk = os.read(job["reader"], 1 << 20)
            except BlockingIOError:
                if time.monotonic() - job["since"] < timeout:
                    continue
                os.kill(job["pid"], signal.SIGKILL)
                job["parts"], chunk = [], b""
            if chunk:
                job["parts"].append(chunk)
                continue
            os.waitpid(job["pid"], 0)
            os.close(job["reader"])
            text = b"".join(job["parts"])
            return path, json.loads(text) if text else {"breaks": 0, "graphs": [], "error": "no record: timeout or crash"}
        time.sleep(0.02)


def main(argv):
    chosen = options(argv)
    pretend_gpu.start()
    os.environ["TORCH_LOGS"] = ARTIFACTS if chosen.logs else ""
    os.environ["TORCH_LOGS_FORMAT"] = "[%(levelname)s]:%(message)s"
    import torch

    if torch.__version__.split("+")[0] != VERSION:
        sys.exit(f"needs torch {VERSION}, this is {torch.__version__}")
    pretend_gpu.install()
    warm_up()
    if chosen.logs:
        chosen.logs.mkdir(parents=True, exist_ok=True)
    jobs, records, waiting = {}, {}, list(chosen.programs)
    while waiting or jobs:
        while waiting and len(jobs) < chosen.jobs:
            path = waiting.pop(0)
            log = chosen.logs / f"{path.stem}.log" if chosen.logs else os.devnull
            pid, reader = start(path, log)
            jobs[path] = {"pid": pid, "reader": reader, "since": time.monotonic(), "parts": []}
        path, found = collect(jobs, chosen.timeout)
        del jobs[path]
        records[path.stem] = found
        print(f"{path.stem}: {len(found['graphs'])} graphs {found.get('error', '')}", flush=True)
    if chosen.out:
        rows = [f"{json.dumps(name)}: {json.dumps(records[name], sort_keys=True, separators=(',', ':'))}" for name in sorted(records)]
        chosen.out.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return 1 if any("error" in r for r in records.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

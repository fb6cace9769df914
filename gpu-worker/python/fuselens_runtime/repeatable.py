"""Calls whose results have the same bits at every run: PyTorch's own kernels are told so while they run."""

import functools
import os

import torch

# read when cuBLAS is first used: its workspaces are the same at every call
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def repeatable(fn):
    """`fn` under torch.use_deterministic_algorithms; operators that have no such kernel warn. Memory is not filled first."""

    @functools.wraps(fn)
    def call(*args):
        enabled, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
        fills = torch.utils.deterministic.fill_uninitialized_memory
        torch.utils.deterministic.fill_uninitialized_memory = False
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            return fn(*args)
        finally:
            torch.use_deterministic_algorithms(enabled, warn_only=warns)
            torch.utils.deterministic.fill_uninitialized_memory = fills

    return call

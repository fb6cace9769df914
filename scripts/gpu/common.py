"""What the runners of this folder share. Importing it puts FuseLens's Python packages on the path."""

import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
for package in (HERE.parent.parent / "gpu-worker" / "python", HERE.parent.parent / ".gpu" / "app" / "python"):
    if package.exists():
        sys.path.insert(0, str(package))
        break


def job_files(folder, only, part=(0, 1)):
    """Jobs of a folder whose names match; of `n` parts the `i`th."""
    files = [p for p in sorted(pathlib.Path(folder).glob("*.json")) if not only or re.search(only, p.stem)]
    return files[part[0] :: part[1]]


def outputs_of(fn, args):
    """Results as a sequence, without gradients."""
    import torch

    with torch.no_grad():
        out = fn(*args)
    return out if isinstance(out, (tuple, list)) else (out,)


def mean(values):
    """Geometric mean of those that are numbers and not 0."""
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")

"""Compiled kernels on disk: shared by the executors and workers of a user, kept over their ends, bounded in size.

Triton keeps every kernel in a folder that is named by a hash of what it is made from (source, arguments, options, target,
its own version), writes files under other names first and renames them, and so may be used by many processes at once. What
it lacks is here: a kernel that is used is marked as such, and those that were not used for longest are removed once all
take more room than they may.
"""

import json
import os
import pathlib
import shutil
import sys
import time
import uuid

LIMIT_BYTES = 2 << 30
# longer than any job lasts: what a job has looked up stays until it is loaded
SPARED_SECONDS = 20 * 60
REMOVED = ".removed-"


def mark_uses():
    """Has Triton tell when it finds a kernel. Versions before 3.4 can't: there the oldest go, used or not."""
    import triton

    knobs = getattr(triton, "knobs", None)
    if knobs is None:
        return
    from triton.runtime.cache import FileCacheManager

    class MarkedCache(FileCacheManager):
        def get_file(self, filename):
            path = super().get_file(filename)
            if path:
                mark(self.cache_dir)
            return path

        def get_group(self, filename):
            """None where a file is missing or damaged, as after a power cut: the kernel is compiled once more."""
            try:
                group = super().get_group(filename)
            except ValueError:
                return None
            if not group or not whole(self.cache_dir, filename, group):
                return None
            mark(self.cache_dir)
            return group

    knobs.cache.manager_class = MarkedCache


def mark(folder):
    try:
        os.utime(folder)
    except OSError:
        pass  # removed meanwhile, or another user's


def whole(folder, filename, group):
    try:
        listed = json.loads(pathlib.Path(folder, f"__grp__{filename}").read_text())["child_paths"]
        json.loads(pathlib.Path(group[filename]).read_text())
        return len(group) == len(listed) and all(os.path.getsize(path) for path in group.values())
    except (OSError, ValueError, KeyError):
        return False


class Trimmer:
    """Trims a folder now and then."""

    EVERY_SECONDS = 10 * 60

    def __init__(self, folder):
        self.folder = folder
        self.next = 0.0

    def trim(self):
        if self.folder and time.monotonic() >= self.next:
            try:
                trim(self.folder)
            except OSError as error:
                print(f"{self.folder} is not trimmed: {error}", file=sys.stderr)
            self.next = time.monotonic() + self.EVERY_SECONDS


def trim(folder, limit=LIMIT_BYTES, spared=SPARED_SECONDS):
    """Removes kernels, the longest unused first, until those that are left take no more than `limit` bytes; never those
    used within the last `spared` seconds. Others may do the same at the same time."""
    newest = time.time() - spared
    kernels = []
    for entry in os.scandir(folder):
        if entry.name.startswith(REMOVED):  # by a process that is at it, or was ended over it
            shutil.rmtree(entry.path, ignore_errors=True)
        elif entry.is_dir(follow_symlinks=False):
            try:
                kernels.append((entry.stat().st_mtime, _bytes(entry.path), entry.path))
            except OSError:
                pass  # gone
    over = sum(size for _, size, _ in kernels) - limit
    for used, size, path in sorted(kernels):
        if over <= 0 or used > newest:
            return
        over -= size
        # whole or not at all: who looks it up now finds nothing, and compiles it
        removed = os.path.join(folder, f"{REMOVED}{uuid.uuid4()}")
        try:
            os.rename(path, removed)
        except OSError:
            continue  # another process was first
        shutil.rmtree(removed, ignore_errors=True)


def _bytes(folder):
    return sum(e.stat(follow_symlinks=False).st_size for e in os.scandir(folder))

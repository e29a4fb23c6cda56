"""Stamps: by which a file is known to be unchanged without being read.

The kernel sets the time of the last change (ctime) by itself, and nobody but the superuser can set
it back. Two doubts remain. Some file systems keep it badly: memory file systems do not touch it
when a mapped page is written, remote ones may remember an old one. And two changes within one tick
of the clock have one time. So there are stamps only on file systems known to be honest, and only
of files that have been left alone for a while.
"""

from __future__ import annotations

import os
import time
from functools import lru_cache
from pathlib import Path

Stamp = tuple[int, ...]

SETTLED = 100_000_000
"""Nanoseconds: many times the longest tick of any clock."""

_HONEST = frozenset({"ext2", "ext3", "ext4", "xfs", "f2fs"})
_MOUNTS = Path("/proc/self/mountinfo")


def make_stamp(info: os.stat_result) -> Stamp:
    """The stamp of a file; empty if it could be changed and keep it."""
    if not keeps_times(info.st_dev) or info.st_ctime_ns > time.time_ns() - SETTLED:
        return ()
    return list_marks(info)


def list_marks(info: os.stat_result) -> Stamp:
    """All that changes with a file, whether or not it can be relied on."""
    return (
        info.st_dev,
        info.st_ino,
        info.st_mode,
        info.st_size,
        info.st_mtime_ns,
        info.st_ctime_ns,
    )


@lru_cache(maxsize=64)
def keeps_times(device: int) -> bool:
    """Whether the file system on a device notes every change of a file."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = {
        after.split()[0]
        for before, _, after in (line.partition(" - ") for line in mounts.splitlines())
        if number in before.split()[:3] and after
    }
    return bool(kinds) and kinds <= _HONEST

"""Volumes: whether a path lies on a disk of this machine, which always answers."""

from __future__ import annotations

import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "ramfs", "tmpfs", "xfs"})
_ESCAPED = re.compile(r"\\([0-7]{3})")


def is_local(path: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether `stat` of a path cannot hang, as it may on a network; False if that is not known."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
        real = path.resolve()
    except (OSError, RuntimeError):
        return False
    kinds: dict[Path, str] = {}
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        words = before.split(" ")
        if len(words) > 4 and after:
            kinds[Path(_unescape(words[4]))] = after.split(" ")[0]  # a later one covers it
    found = next((kinds[one] for one in (real, *real.parents) if one in kinds), "")
    return found in _LOCAL


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)

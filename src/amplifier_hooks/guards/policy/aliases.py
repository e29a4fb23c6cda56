"""Other paths to hidden places: what links below them lead to, and where the same mount is as well.

A person may keep the trails on another disk, by a link or a bind mount inside of the data folder.
A sandbox hides paths, so the folder on that disk has to be hidden, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_DEPTH = 2
"""Folders below a hidden place that are searched: its own, and those of single logs or sessions."""
_ESCAPED = re.compile(r"\\([0-7]{3})")


def list_aliases(places: Iterable[Path], roots: Iterable[Path] = ()) -> list[Path]:
    """Real paths that are as good as a hidden one; none that a root lies in, which must stay open.

    Links are followed as often as one leads to a folder with further links.
    """
    kept = tuple(roots)
    found: dict[Path, None] = {}
    todo = [Path(os.path.realpath(place)) for place in places]
    known = set(todo)
    while todo:
        place = todo.pop()
        for path in (*_find_targets(place, _DEPTH), *find_mounted(place, _read_mounts())):
            if path in known or any(root.is_relative_to(path) for root in kept):
                continue
            known.add(path)
            found[path] = None
            todo.append(path)
    return list(found)


def _find_targets(folder: Path, depth: int) -> Iterator[Path]:
    """What the links in a folder, and in folders below it, lead to."""
    try:
        with os.scandir(folder) as entries:
            listed = [
                (Path(entry.path), entry.is_symlink(), entry.is_dir(follow_symlinks=False))
                for entry in entries
            ]
    except OSError:  # not there, a file, or closed to us and so to our commands
        return
    for path, is_link, is_folder in listed:
        if is_link:
            yield Path(os.path.realpath(path))
        elif is_folder and depth > 1:
            yield from _find_targets(path, depth - 1)


def _read_mounts() -> str:
    try:
        return _MOUNTS.read_text(errors="surrogateescape")
    except OSError:
        return ""


def find_mounted(place: Path, mounts: str) -> Iterator[Path]:
    """Where else the mounts at or below a place can be reached, as /proc/self/mountinfo has it."""
    rows = [_read_mount(line) for line in mounts.splitlines() if line.count(" ") > 4]
    for device, root, point in rows:
        if not point.is_relative_to(place):
            continue
        for other_device, other_root, other_point in rows:
            if other_device == device and other_point != point and root.is_relative_to(other_root):
                yield other_point / root.relative_to(other_root)


def _read_mount(line: str) -> tuple[str, Path, Path]:
    _, _, device, root, point, *_ = line.split(" ")
    return device, _read_path(root), _read_path(point)


def _read_path(text: str) -> Path:
    """A path of mountinfo, which writes blanks and backslashes as octal numbers."""
    return Path(_ESCAPED.sub(lambda found: chr(int(found.group(1), 8)), text))

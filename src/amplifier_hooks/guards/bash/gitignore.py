"""Whether `.gitignore` leaves a file out, read without running git."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

_LARGEST = 200_000
_NAMES = (".gitignore", ".git/info/exclude")


def is_ignored(path: Path) -> bool:
    """Whether the ignore files between the top of its repository and the file leave it out.

    Outside a repository nothing is left out.
    """
    top = next((one for one in path.parents if (one / ".git").exists()), None)
    if top is None:
        return False
    ignored = False
    folders = [one for one in reversed(path.parents) if one == top or top in one.parents]
    for folder in folders:
        inner = os.path.relpath(path, folder)
        for line in _read_lines(folder, top):
            if _fits(inner, line.removeprefix("!")):
                ignored = not line.startswith("!")
    return ignored


def _read_lines(folder: Path, top: Path) -> Iterator[str]:
    for name in _NAMES if folder == top else _NAMES[:1]:
        try:
            text = (folder / name).read_text("utf-8", "replace")[:_LARGEST]
        except OSError:
            continue
        for line in text.splitlines():
            stripped = line.strip()
            if stripped and not stripped.startswith("#"):
                yield stripped


def _fits(inner: str, pattern: str) -> bool:
    """A pattern with a slash counts from its folder, one without at any depth."""
    bare = pattern.rstrip("/")
    parts = inner.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    candidates = above[:-1] if pattern.endswith("/") else above
    if "/" in bare:
        anchored = bare.removeprefix("/")
        globs = {anchored, anchored.replace("**/", "")}
        return any(fnmatchcase(one, glob) for one in candidates for glob in globs)
    names = parts[:-1] if pattern.endswith("/") else parts
    return any(fnmatchcase(name, bare) for name in names)

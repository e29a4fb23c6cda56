"""The files that the entries of a plan depend on, and whether they changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.utils.nested import iterate_texts

Stamp = tuple[tuple[str, int, int, int, int], ...]
"""Of each file its path, times of change, size and inode; -1 where it is not there.

The second time is that of the inode, which no program can set back.
"""

_NAMING_FILES = ("file", "settings")


def list_files(entry: ModuleEntry, folder: Path) -> Iterator[Path]:
    """The source of an entry, and the files that its options name: rules and settings.

    Other options may name files that the agent works on.
    """
    if entry.source is not None and "://" not in entry.source:
        yield folder / entry.source
    for option in _NAMING_FILES:
        for text in iterate_texts(entry.config.get(option)):
            path = folder / _expand_home(text)
            yield from _match(path) if set("*?[") & set(text) else [path]


def stamp_files(paths: Iterable[Path]) -> Stamp:
    """The state of files, to see later whether they changed; of a folder, its Python files."""
    files: set[Path] = set()
    for path in paths:
        files |= set(path.rglob("*.py")) if path.is_dir() else {path}
    return tuple(_stat(path) for path in sorted(files))


def _expand_home(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # nobody's home
        return Path(text)


def _match(pattern: Path) -> list[Path]:
    """The files that a pattern finds."""
    try:
        found = Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor)))
        return [path for path in found if _is_file(path)]
    except (OSError, ValueError):
        return []


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _stat(path: Path) -> tuple[str, int, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), -1, -1, -1, -1
    return str(path), found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino

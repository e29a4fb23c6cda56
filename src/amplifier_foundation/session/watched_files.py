"""The files that the entries of a plan depend on, and whether they changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.utils.nested import iterate_texts

Stamp = tuple[tuple[str, int, int, int], ...]
"""Of each file its path, time of change, size and inode; -1 where it is not there."""

_LONGEST_PATH = 300


def list_files(entry: ModuleEntry, folder: Path) -> Iterator[Path]:
    """The source of an entry, and the files that its options name: rules, settings, scripts."""
    if entry.source is not None and "://" not in entry.source:
        yield folder / entry.source
    for text in filter(_may_be_path, iterate_texts(entry.config)):
        path = folder / _expand_home(text)
        if _is_file(path):
            yield path
    # Only here: in other options a pattern stands for files that the agent works on.
    for text in iterate_texts(entry.config.get("settings")):
        yield from _match(folder / _expand_home(text))


def stamp_files(paths: Iterable[Path]) -> Stamp:
    """The state of files, to see later whether they changed; of a folder, its Python files."""
    files: set[Path] = set()
    for path in paths:
        files |= set(path.rglob("*.py")) if path.is_dir() else {path}
    return tuple(_stat(path) for path in sorted(files))


def _may_be_path(text: str) -> bool:
    return len(text) <= _LONGEST_PATH and ("." in text or "/" in text)


def _expand_home(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # nobody's home
        return Path(text)


def _match(pattern: Path) -> list[Path]:
    """The files that a pattern finds; nothing for a plain path."""
    if not set("*?[") & set(str(pattern)):
        return []
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


def _stat(path: Path) -> tuple[str, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), -1, -1, -1
    return str(path), found.st_mtime_ns, found.st_size, found.st_ino

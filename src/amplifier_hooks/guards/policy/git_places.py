"""Places from which git runs programs: its directories near a folder, and what to seal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from amplifier_hooks.guards.policy.protected_place_table import GIT_RUNS

_READ_LIMIT = 262_144
_MOST_FOLDERS = 400
_MOST_CONFIGS = 50
_DEPTH = 2
_SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__", ".tox", "target"})
# Whatever the section: a value too many is sealed rather than one too few.
_NAMES_A_PATH = re.compile(
    r"""^\s*(?:\[[^\]\n]*\]\s*)?(path|hookspath)\s*=\s*"?([^"\n#;]+)""",
    re.IGNORECASE | re.MULTILINE,
)


def list_git_places(root: Path, home: Path) -> list[Path]:
    """The files and folders to seal for the repositories in, around and below a root.

    Those of the root itself are listed before it is a repository. Repositories that a command
    makes further down later are not known here.
    """
    found = [root / ".git" / name for name in GIT_RUNS]
    for repository in _find_repositories(root):
        pointer = repository / ".git"
        if pointer.is_file():
            found.append(pointer)
        for directory in _list_git_directories(pointer):
            found += [directory / name for name in GIT_RUNS]
    configs = [path for path in found if path.name.startswith("config")]
    return [*found, *follow_settings(configs, root, home)]


def follow_settings(configs: Iterable[Path], root: Path, home: Path) -> list[Path]:
    """The files that git's settings include, and the folders of hooks that they name."""
    waiting = list(configs)
    known = set[Path]()
    found = list[Path]()
    while waiting and len(known) < _MOST_CONFIGS:
        config = waiting.pop()
        if config in known:
            continue
        known.add(config)
        for key, value in _NAMES_A_PATH.findall(_read(config)):
            included = key.lower() == "path"
            path = _expand(value.strip(), config.parent if included else root, home)
            found.append(path)
            waiting += [path] if included else []
    return found


def _find_repositories(root: Path) -> Iterator[Path]:
    """Folders with a `.git`: the nearest above, and those some way below."""
    above = next((one for one in (root, *root.parents) if os.path.lexists(one / ".git")), None)
    if above is not None:
        yield above
    level = [root]
    left = _MOST_FOLDERS
    for _ in range(_DEPTH):
        level = [inner for folder in level[:left] for inner in _list_folders(folder)]
        left = max(left - len(level), 0)
        yield from (inner for inner in level if os.path.lexists(inner / ".git"))


def _list_folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                folder / one.name
                for one in entries
                if one.name not in _SKIPPED and one.is_dir(follow_symlinks=False)
            ][:_MOST_FOLDERS]
    except OSError:
        return []


def _list_git_directories(pointer: Path) -> Iterator[Path]:
    """The git directory that `.git` is or points to, the common one, and those inside."""
    directory = _follow(pointer, b"gitdir:") if pointer.is_file() else pointer
    common = _follow(directory / "commondir", b"") if (directory / "commondir").exists() else None
    for one in dict.fromkeys([directory, common or directory]):
        yield one
        for inner in ("modules", "worktrees"):
            yield from _find_inner(one / inner, _DEPTH)


def _find_inner(folder: Path, depth: int) -> Iterator[Path]:
    """Git directories of submodules, whose names may have slashes, and of worktrees."""
    for inner in _list_folders(folder):
        if (inner / "HEAD").exists():
            yield inner
        elif depth > 1:
            yield from _find_inner(inner, depth - 1)


def _follow(pointer: Path, prefix: bytes) -> Path:
    line = os.fsencode(_read(pointer).strip()).removeprefix(prefix).strip()
    return (pointer.parent / os.fsdecode(line or b".")).resolve()


def _read(path: Path) -> str:
    """The beginning of a file that a person or git wrote; nothing if it cannot be read."""
    try:
        # A pipe in its place would never end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        return os.fsdecode(os.read(descriptor, _READ_LIMIT)).replace("\0", "")
    except OSError:  # a directory, or a pipe that somebody holds open
        return ""
    finally:
        os.close(descriptor)


def _expand(value: str, base: Path, home: Path) -> Path:
    if value.startswith("~/"):
        return home / value[2:]
    return base / value

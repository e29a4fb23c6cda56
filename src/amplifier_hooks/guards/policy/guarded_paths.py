"""Guarded globs, and the paths that they cover, however those are written."""

from __future__ import annotations

import os
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from amplifier_hooks.guards.policy.paths import escape_glob, match_glob, resolve

_MOST_BELOW = 2_000
_MOST_FITTING = 4_096
# What package managers put there can be installed again, and has files of any name.
_INSTALLED = frozenset({"node_modules", ".venv", "site-packages", "__pycache__", ".tox"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A guarded path: as it was given, where it really leads, and the glob that covers it."""

    given: str
    resolved: Path
    pattern: str
    below: bool = False
    """Whether the folder around it was given."""


Chosen = Callable[[Path, Path], bool]
"""Whether a path below a folder is one of those meant."""


class GuardedPaths:
    """The guarded globs, seen from the session's working directory."""

    def __init__(self, patterns: Iterable[str], base: Path, excepted: Iterable[str] = ()) -> None:
        """`excepted` are globs of what is not guarded all the same."""
        self._patterns = tuple(patterns)
        self._excepted = tuple(excepted)
        # A glob that cannot be used is an error now.
        read = _read_globs(self._patterns, self._excepted, str(Path.home()))
        self._base = base
        self._heads, self._names, self._globs = read
        self._fitting: dict[str, bool] = {}

    def find_hit(self, given: str, base: Path | None = None) -> Hit | None:
        """The glob that guards this path, or None; ValueError if the path cannot be resolved."""
        start = base or self._base
        resolved = resolve(given, start)
        lexical = Path(os.path.normpath(start / given))
        symlinked = dict(self._iterate_symlinked())
        for path in dict.fromkeys(_list_disguises(resolved, lexical)):
            if match_glob(path, self._excepted):
                continue
            if pattern := match_glob(path, self._patterns):
                return Hit(given, resolved, pattern)
            if found := match_glob(path, symlinked):
                return Hit(given, resolved, symlinked[found])
        return None

    def find_hit_below(
        self, given: str, base: Path | None = None, chosen: Chosen | None = None
    ) -> Hit | None:
        """The first guarded path in a folder, for whoever removes or moves the folder as a whole.

        If only some files and folders are `chosen`, then those and what is in them. Of a large
        folder, only the 2,000 entries nearest to its top are looked at.
        """
        folder = resolve(given, base or self._base)
        globs = {**dict.fromkeys(self._patterns), **dict(self._iterate_symlinked())}
        for path in _iterate_below(folder):
            found = match_glob(path, globs)
            if found and (chosen is None or chosen(folder, path.relative_to(folder))):
                return Hit(given, path, globs[found] or found, below=True)
        return None

    @property
    def patterns(self) -> tuple[str, ...]:
        """The guarded globs, as they were given."""
        return self._patterns

    def may_guard(self, path: str) -> bool:
        """A quick look whether a path can be guarded, before its links are followed."""
        parts = path.casefold().split("/")
        if not self._names.isdisjoint(parts):
            return True
        return any(map(self._fits_glob, parts))

    def _fits_glob(self, part: str) -> bool:
        if part not in self._fitting:
            if len(self._fitting) >= _MOST_FITTING:
                self._fitting.clear()
            self._fitting[part] = any(fnmatchcase(part, glob) for glob in self._globs)
        return self._fitting[part]

    def find_hit_behind(self, given: str) -> Hit | None:
        """The glob that guards something behind this path, if it becomes a link to a folder."""
        resolved = resolve(given, self._base)
        for pattern in self._patterns:
            parts = pattern.rstrip("/").split("/")
            above = ["/".join(parts[:at]) for at in range(1, len(parts))]
            if match_glob(resolved, [one for one in above if one.strip("/*~")]):
                return Hit(given, resolved, pattern)
        return None

    def _iterate_symlinked(self) -> Iterator[tuple[str, str]]:
        """Globs whose own beginning is a symlink: `/production` may really be `/data/prod`.

        Each with where it leads, and as it was written.
        """
        known = {"": "", "/": ""}
        for pattern, head, tail in self._heads:
            if head and (real := _resolve_head(head, known) or "/") != head:
                yield f"{escape_glob(real)}/{tail}", pattern


Heads = tuple[tuple[str, str, str], ...]
"""Each glob with the part before its first wildcard, and the rest."""


@lru_cache(maxsize=32)
def _read_globs(
    patterns: tuple[str, ...], excepted: tuple[str, ...], home: str
) -> tuple[Heads, frozenset[str], frozenset[str]]:
    """What globs alone tell, before any path is seen; ValueError if one cannot be used.

    Sessions of one bundle have the same ones, and there are hundreds.
    """
    match_glob(Path("/"), (*patterns, *excepted))
    heads = tuple((one, *_split_literal_head(one, home)) for one in patterns)
    return heads, *_find_telling_names(patterns)


def _find_telling_names(patterns: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """A component that every path of a glob has: a name, or else a glob of a name."""
    names: set[str] = set()
    globs: set[str] = set()
    for pattern in patterns:
        parts = [part.casefold() for part in pattern.split("/") if part not in {"", "~", "**"}]
        literal = [part for part in parts if not any(sign in part for sign in "*?[{")]
        if literal:
            names.add(literal[-1])
        else:
            plain = [part for part in parts if "{" not in part]
            globs.add(plain[-1] if plain else "*")
    return frozenset(names), frozenset(globs)


def _iterate_below(folder: Path) -> Iterator[Path]:
    """What is in a folder, level by level; links are not followed."""
    folders = deque([folder])
    left = _MOST_BELOW
    while folders and left > 0:
        try:
            entries = sorted(os.scandir(folders.popleft()), key=lambda entry: entry.name)[:left]
        except OSError:  # no folder, or none that can be read
            continue
        left -= len(entries)
        for entry in entries:
            yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False) and entry.name not in _INSTALLED:
                folders.append(Path(entry.path))


def _resolve_head(path: str, known: dict[str, str]) -> str:
    """Where an absolute path leads; what it has in common with others is looked up once."""
    if path not in known:
        folder, name = path.rsplit("/", 1)
        real = f"{_resolve_head(folder, known)}/{name}"
        special = name in {"", ".", ".."}
        # This runs for each glob at each call: a look at each folder must do.
        known[path] = os.path.realpath(path) if special or os.path.islink(real) else real  # noqa: PTH114
    return known[path]


def _list_disguises(resolved: Path, lexical: Path) -> Iterator[Path]:
    """The path itself, and what it may be taken for: full-width letters, percent signs."""
    for path in (resolved, lexical):
        yield path
        text = str(path)
        yield Path(unicodedata.normalize("NFKC", text))
        if "%" in text:
            yield Path(os.path.normpath(unquote(text).replace("\0", "")))


def _split_literal_head(pattern: str, home: str) -> tuple[str, str]:
    """The part of an absolute glob before its first wildcard, and the rest."""
    if pattern.startswith("~/"):
        pattern = home + pattern[1:]
    if not pattern.startswith("/"):
        return "", pattern
    parts = pattern.split("/")
    at = next((n for n, part in enumerate(parts) if any(s in part for s in "*?[{")), len(parts))
    return "/".join(parts[:at]), "/".join(parts[at:])

"""Which modules are installed, read again when that may have changed."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

from amplifier_core.loader.path_state import PathState, read_path_state
from amplifier_core.loader.sources import Sources

GROUP = "amplifier.modules"
DISTRIBUTION = "amplifier-hooks"
"""The distribution on top of this kernel, whose modules give way to others."""


class _Named(NamedTuple):
    """A module, as a distribution names it."""

    point: EntryPoint
    home: Path | None
    """The folder that the distribution is installed in."""
    is_ours: bool


class _Reading(NamedTuple):
    """What was read, by what, and the state that it was read in."""

    named: tuple[_Named, ...]
    read: Callable[..., Any]
    files: tuple[str, ...]
    state: PathState

    def is_current(self) -> bool:
        """Whether the same would be read again."""
        same = self.read is importlib.metadata.entry_points
        return same and self.state == read_path_state(self.files)


_last: list[_Reading] = []
"""The last reading, if it can be told when it is no longer current."""


def choose_modules(sources: Sources | None) -> tuple[dict[str, EntryPoint], frozenset[str]]:
    """The installed modules by id, and the ids among them that are ours and nobody else's.

    What `sources` govern is not installed: there, only what was read and judged counts.
    """
    named = _list_named()
    homes = {one.home for one in named if one.home is not None}  # many modules share one
    governed = {home for home in homes if sources is not None and sources.governs(home)}
    found = [one for one in named if one.home not in governed]
    others = {one.point.name: one.point for one in reversed(found) if not one.is_ours}
    ours = {one.point.name: one.point for one in found if one.is_ours}
    return {**ours, **others}, frozenset(ours.keys() - others.keys())


def _list_named() -> tuple[_Named, ...]:
    for reading in _last[:]:
        if reading.is_current():
            return reading.named
    reading = _read()
    _last[:] = [reading] if reading.state.is_settled() else []
    return reading.named


def _read() -> _Reading:
    read = importlib.metadata.entry_points
    points = list(read(group=GROUP))
    # One by one, because the name of a distribution stands in a long file.
    owners = [getattr(point, "dist", None) for point in points]  # some hosts make up their own
    dists = {id(dist): dist for dist in owners}
    homes = {key: _find_home(dist) for key, dist in dists.items()}
    ours = {key for key, dist in dists.items() if getattr(dist, "name", None) == DISTRIBUTION}
    named = [
        _Named(point, homes[id(dist)], id(dist) in ours)
        for point, dist in zip(points, owners, strict=True)
    ]
    folders = [*map(_find_folder, dists.values()), *_list_checkouts()]
    files = tuple(f"{folder}/entry_points.txt" for folder in folders)
    return _Reading(tuple(named), read, files, read_path_state(files))


def _list_checkouts() -> list[str]:
    """What development installs know of themselves, which is written anew in its place."""
    found: list[str] = []
    for folder in sys.path:
        with suppress(OSError):
            names = os.listdir(folder or ".")  # noqa: PTH208 - a Path for each name takes long
            found += [f"{folder or '.'}/{name}" for name in names if name.endswith(".egg-info")]
    return found


def _find_home(dist: Any) -> Path | None:
    return None if dist is None else Path(str(dist.locate_file("")))


def _find_folder(dist: Any) -> Any:
    """Where the files about a distribution are; there is no public name for it."""
    return getattr(dist, "_path", None)

"""Which access a wall allows to which paths, as Landlock counts: by hierarchies, adding up.

A place inside an allowed hierarchy cannot be taken out again. So whatever lies on the way to a
hidden place is not allowed as a whole, only its other entries are.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from amplifier_hooks.sandbox.linux.landlock import DEVICE, READ, WRITE, Access
from amplifier_hooks.sandbox.wall import Wall

DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))
_ALL_DEVICES = Path("/dev")

Allowance = tuple[Path, Access]
Stamp = tuple[object, ...]


def list_allowances(wall: Wall) -> Iterator[Allowance]:
    """Reading everywhere, writing where the wall allows it; never a hidden place."""
    # Of the devices only harmless ones: another terminal of the person is one as well.
    yield from _cover(Path("/"), READ, (*wall.hidden, _ALL_DEVICES))
    for device in DEVICES:
        yield device, DEVICE
    for root in (*wall.writable, wall.temporary):
        yield from _cover(root, _choose_writing(root), wall.hidden)


def take_stamp(wall: Wall) -> Stamp:
    """What changes when `list_allowances` would yield something else."""
    folders, roots = _list_watched(wall.hidden, (*wall.writable, wall.temporary))
    return (roots, *map(_stamp_folder, folders), *map(_identify, roots))


@lru_cache(maxsize=64)
def _list_watched(
    hidden: tuple[Path, ...], roots: tuple[Path, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """As texts, because these are looked at before every command."""
    above = {parent for place in hidden for parent in place.parents}
    return tuple(map(str, sorted(above))), tuple(map(str, roots))


def _choose_writing(root: Path) -> Access:
    return WRITE | Access.IOCTL_DEV if root.is_relative_to(_ALL_DEVICES) else WRITE


def _cover(folder: Path, access: Access, without: Iterable[Path]) -> Iterator[Allowance]:
    """The folder as a whole, or all in it that is not on the way to an excluded place."""
    excluded = tuple(without)
    if any(folder.is_relative_to(place) for place in excluded):
        return
    inner = tuple(place for place in excluded if place.is_relative_to(folder))
    if not inner:
        yield folder, access
        return
    yield folder, Access.READ_DIR
    on_the_way = {place.relative_to(folder).parts[0] for place in inner}
    for name, is_link in _list_entries(folder):
        if name in on_the_way:
            yield from _cover(folder / name, access, inner)
        elif not is_link:
            yield folder / name, access


def _list_entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_symlink()) for entry in entries]
    except OSError:
        return []


def _stamp_folder(path: str) -> tuple[int, ...] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino, info.st_mtime_ns, info.st_ctime_ns


def _identify(path: str) -> tuple[int, ...] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino, stat.S_IFMT(info.st_mode)

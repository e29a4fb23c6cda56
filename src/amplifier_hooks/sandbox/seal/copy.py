"""What stands at the sealed places of a folder, as values that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Parts = tuple[str, ...]
Tree = dict[str, "Tree"]
"""The sealed places below a folder; a name without entries is sealed with all below it."""


class SealError(OSError):
    """A sealed place cannot be watched, or was changed and cannot be put back."""


@dataclass(frozen=True, slots=True)
class Copy:
    """What stands at one place. Only the sealed entries of a folder on the `way` are in it.

    Of what is too `large` to keep there is only a digest, which tells that it changed. `links` is
    left out of comparisons: a second name that goes away changes nothing. So is `stamp`, by which
    a file is known again without being read.
    """

    kind: Literal["absent", "file", "link", "folder", "way", "large", "other"]
    mode: int = 0
    owner: tuple[int, int] = (0, 0)
    data: bytes = b""
    entries: Mapping[str, Copy] = field(default_factory=dict)
    links: int = field(default=1, compare=False)
    stamp: tuple[int, ...] = field(default=(), compare=False)


ABSENT = Copy("absent")


def build_tree(places: Iterable[Parts]) -> Tree:
    """The places as a tree; what lies below another place is part of that one."""
    tree: Tree = {}
    for parts in sorted(places, key=len, reverse=True):
        here = tree
        for part in parts[:-1]:
            here = here.setdefault(part, {})
        here[parts[-1]] = {}
    return tree


def find_changes(before: Copy, now: Copy, tree: Tree, at: Parts = ()) -> list[Parts]:
    """The places at which something else stands now."""
    found: list[Parts] = []
    for name in before.entries.keys() | now.entries.keys():
        old, new = before.entries.get(name, ABSENT), now.entries.get(name, ABSENT)
        if tree[name] and {old.kind, new.kind} <= {"way", "absent"}:
            found += find_changes(old, new, tree[name], (*at, name))
        elif is_changed(old, new):
            found.append((*at, name))
    return sorted(found)


def is_changed(old: Copy, new: Copy) -> bool:
    """Whether it differs, or a file got a second name, by which it could be changed later."""
    return old != new or _has_new_link(old, new)


def graft(before: Copy, now: Copy, parts: Parts) -> Copy:
    """`before`, but at one path what stands there now."""
    if not parts or not {before.kind, now.kind} <= {"absent", "way", "folder"}:
        return now
    name, rest = parts[0], parts[1:]
    inner = graft(before.entries.get(name, ABSENT), now.entries.get(name, ABSENT), rest)
    entries = {key: copy for key, copy in before.entries.items() if key != name}
    if inner.kind != "absent":
        entries[name] = inner
    shape = now if before.kind == "absent" else before
    if shape.kind != "folder" and not entries:
        return ABSENT
    return replace(shape, entries=entries)


def _has_new_link(old: Copy, new: Copy) -> bool:
    if old.kind == "file":
        return new.links > old.links
    return any(_has_new_link(copy, new.entries[name]) for name, copy in old.entries.items())

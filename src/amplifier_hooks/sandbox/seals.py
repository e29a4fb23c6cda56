"""Seals: what stood at sealed places before a command stands there again after it.

For walls that cannot keep single files inside a writable folder. A change stands until its command
has ended. Whose change it was is not known: what a person changes at a sealed place meanwhile is
put back too, and told.
"""

from __future__ import annotations

import errno
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from amplifier_hooks.sandbox.seal_copies import Parts, SealError
from amplifier_hooks.sandbox.seal_keeper import SealKeeper, get_keeper

Grouping = Mapping[Path, frozenset[Parts]]
_Paths = tuple[tuple[Path, ...], tuple[Path, ...]]

# Comparing a table of hundreds of paths takes longer than looking at the places.
_grouped: deque[tuple[tuple[Path, ...], _Paths, Grouping]] = deque(maxlen=8)


class SealedPlaces(Protocol):
    """What lists places that commands must not change."""

    @property
    def sealed(self) -> tuple[Path, ...]:
        """Absolute, real paths, which need not exist."""


@dataclass(slots=True)
class Seals:
    """The seals around one command.

    `left_changed` names places that changed while an earlier command ran whose program was killed;
    they are as they were found, because a person may have changed them since.
    """

    left_changed: tuple[Path, ...] = ()
    _held: list[tuple[SealKeeper, Sequence[Parts]]] = field(default_factory=list)

    @classmethod
    def take(
        cls, places: SealedPlaces, roots: Iterable[Path], grants: Iterable[Path] = ()
    ) -> Seals:
        """Copy what stands at the sealed places below the roots; `grants` may be changed.

        A grant may be among the roots. SealError if a place holds too much to be watched.
        """
        seals = cls()
        granted = tuple(grants)
        try:
            for root, below in _group_once(places.sealed, tuple(roots), granted).items():
                seals._hold(root, below, granted)
        except BaseException:
            seals.restore()
            raise
        return seals

    def restore(self) -> list[Path]:
        """Put back what was changed, added or removed, and name it; a second call does nothing.

        SealError names what could not be put back.
        """
        restored: list[Path] = []
        lost: list[Path] = []
        while self._held:
            keeper, grants = self._held.pop()
            repair = keeper.end(grants)
            restored += [keeper.root.joinpath(*parts) for parts in repair.restored]
            lost += [keeper.root.joinpath(*parts) for parts in repair.lost]
        if lost:
            listed = ", ".join(map(str, lost))
            message = f"The command changed what is sealed and cannot be put back: {listed}"
            raise SealError(errno.EIO, message)
        return restored

    def _hold(self, root: Path, below: frozenset[Parts], granted: Sequence[Path]) -> None:
        if not root.is_dir():
            return  # nothing is there, and no wall lets a command make it
        keeper = get_keeper(root)
        inside = [path.relative_to(root).parts for path in granted if path.is_relative_to(root)]
        grants = [grant for grant in inside if any(_unseals(grant, place) for place in below)]
        changed = keeper.begin(below, grants)
        self._held.append((keeper, grants))
        found = (root.joinpath(*parts) for parts in changed)
        self.left_changed = (*self.left_changed, *found)


def explain_restored(paths: Sequence[Path]) -> str:
    """The line below a command's output that says what became of its changes."""
    listed = ", ".join(f"{str(path)!r}" for path in paths)
    return (
        f"Put back as before the command, because it can make programs run or governs an agent: "
        f"{listed}. If the change is wanted, run the command again with these paths in needs.write."
    )


def _unseals(grant: Parts, place: Parts) -> bool:
    """Whether who grants a path has read that this place is meant: it, in it, or its `.git`.

    A folder further up that was granted for something else unseals nothing.
    """
    return grant[: len(place)] == place or (grant == place[:-1] and grant[-1:] == (".git",))


def _group_once(
    places: tuple[Path, ...], roots: tuple[Path, ...], grants: tuple[Path, ...]
) -> Grouping:
    """As `_group_by_root`, without the work for a table that is still the same."""
    for known, known_paths, grouping in _grouped:
        if known is places and known_paths == (roots, grants):
            return grouping
    grouping = _group_by_root(places, roots, grants)
    _grouped.appendleft((places, (roots, grants), grouping))
    return grouping


def _group_by_root(
    places: tuple[Path, ...], roots: tuple[Path, ...], grants: tuple[Path, ...]
) -> Grouping:
    """Each place below the root whose keeper it has, the same for every command.

    That is the widest root that holds it. Roots that were granted to one command are none that
    others know, so places that only such a root holds belong to the machine's keeper.
    """
    # A root that was also granted is there twice.
    own = sorted((Counter(roots) - Counter(grants)), key=lambda root: len(root.parts))
    found: dict[Path, set[Parts]] = {}
    for place in places:
        root = _find_above(place, own)
        if root is None and _find_above(place, roots) is not None:
            root = Path(place.anchor)
        if root is not None:
            found.setdefault(root, set()).add(place.relative_to(root).parts)
    return {root: frozenset(below) for root, below in found.items()}


def _find_above(place: Path, roots: Iterable[Path]) -> Path | None:
    return next((root for root in roots if place != root and place.is_relative_to(root)), None)

"""What a log says of itself, each claim with the record that makes it.

Whoever can write the files can append any record. So a claim that would excuse something counts
only when its record lies before the position that a signature or an anchor proves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplifier_audit.format.log_name import is_log_name
from amplifier_audit.format.own_records import LogOpened
from amplifier_audit.reader.report import Finding

ANCHORED = -1
"""In the place of a sequence: an anchor says so, not a record."""


@dataclass(slots=True)
class Claims:
    """Gathered while the lines are read; `before` is the proven position, None for everything."""

    recoveries: list[int] = field(default_factory=list)
    first_session: tuple[int, str] | None = None
    _names: dict[str, int] = field(default_factory=dict)
    _removals: list[tuple[int, int]] = field(default_factory=list)
    _signs_removals: int | None = None

    def add_opening(self, sequence: int, opened: LogOpened) -> None:
        """A writer began: for whom, and whether it signs before it removes."""
        # Writers that know names also sign each removal before they carry it out.
        if opened.signs_removals and self._signs_removals is None:
            self._signs_removals = sequence
        self.add_name(sequence, opened.name)

    def add_name(self, sequence: int, name: Any) -> None:
        """A record or an anchor says whose log it is."""
        if is_log_name(name):
            self._names[name] = min(sequence, self._names.get(name, sequence))

    def add_session(self, sequence: int, session: Any) -> None:
        """The first session that a record is about; later ones may be its sub-agents."""
        if self.first_session is None and isinstance(session, str):
            self.first_session = (sequence, session)

    def add_removal(self, sequence: int, segment: Any) -> None:
        """A segment was to be removed."""
        if isinstance(segment, int):
            self._removals.append((sequence, segment))

    def add_later(self, later: Claims) -> None:
        """What the records behind these say."""
        self.recoveries += later.recoveries
        self.first_session = self.first_session or later.first_session
        for name, sequence in later._names.items():
            self.add_name(sequence, name)
        self._removals += later._removals
        if self._signs_removals is None:
            self._signs_removals = later._signs_removals

    def find_name(self, before: int | None) -> str | None:
        """Whose log it is, as far as that is proven."""
        return next((name for name, at in self._names.items() if _lies_before(at, before)), None)

    def find_session(self, before: int | None) -> str | None:
        """The first session, as far as that is proven."""
        if self.first_session is None or not _lies_before(self.first_session[0], before):
            return None
        return self.first_session[1]

    def find_removed_to(self, before: int | None) -> int:
        """The last segment whose removal is on record; those before it went with it."""
        return max((n for at, n in self._removals if _lies_before(at, before)), default=-1)

    def signs_removals(self, before: int | None) -> bool:
        """Whether a proven record says that the writer signs each removal before it happens."""
        return self._signs_removals is not None and _lies_before(self._signs_removals, before)

    def describe_conflict(self) -> Finding | None:
        """Two names in one log."""
        if len(self._names) < 2:
            return None
        one, other, *_ = self._names.items()
        message = f"the log says that it is the one of {one[0]!r} and that of {other[0]!r}"
        return Finding("wrong log", max(0, other[1]), message)


def _lies_before(sequence: int, position: int | None) -> bool:
    return position is None or sequence < position

"""The table: what was measured, the goal for it, and whether it was met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Row:
    """One share of a list, in percent; None if the data are not there, and `missing` says which."""

    name: str
    measured: float | None = None
    goal: float | None = None
    wanted: Literal["at most", "at least"] = "at most"
    missing: str = ""

    @property
    def verdict(self) -> str:
        """Met, missed, or what is missing."""
        if self.measured is None:
            return f"data missing: {self.missing}"
        if self.goal is None:
            return ""
        held = self.measured <= self.goal if self.wanted == "at most" else self._reaches()
        return "met" if held else "missed"

    def _reaches(self) -> bool:
        return self.measured is not None and self.goal is not None and self.measured >= self.goal


def compute_share(part: int, whole: int) -> float:
    """The part in percent."""
    return 100 * part / whole if whole else 0.0


def format_share(share: float | None, absent: str = "") -> str:
    """One digit behind the point, and two where one would show nothing."""
    if share is None:
        return absent
    return f"{share:.2f} %" if 0 < share < 0.05 else f"{share:.1f} %"


def format_table(rows: Sequence[Row]) -> str:
    """The rows in columns."""
    width = max((len(row.name) for row in rows), default=0)
    lines = [f"{'':{width}}  {'measured':>9}  {'goal':>13}"]
    for row in rows:
        measured = format_share(row.measured)
        goal = "" if row.goal is None else f"{row.wanted} {row.goal:g} %"
        lines.append(f"{row.name:{width}}  {measured:>9}  {goal:>13}  {row.verdict}".rstrip())
    return "\n".join(lines)

"""Where a page of a list ends and the next one begins."""

from __future__ import annotations

import math
from dataclasses import dataclass

from amplifier_hooks.approvals.stores.errors import BadRequest

MOST = 1_000


@dataclass(frozen=True, slots=True)
class Position:
    """The last entry of a page."""

    at: float
    id: str

    def __str__(self) -> str:
        return f"{self.at!r}/{self.id}"


def read_position(text: str) -> Position | None:
    """The `next` of the page before; None at the beginning."""
    if not text:
        return None
    at, slash, id = text.partition("/")
    try:
        position = Position(float(at), id)
    except ValueError:
        position = Position(math.nan, "")
    if not slash or not math.isfinite(position.at) or "\0" in id:
        raise BadRequest(f"{text[:80]!r} is no place in a list; use the `next` of a page")
    return position


def read_limit(limit: int) -> int:
    """How many entries a page may have."""
    if type(limit) is not int or not 1 <= limit <= MOST:
        raise BadRequest(f"A page has 1 to {MOST} entries, not {limit!r}")
    return limit

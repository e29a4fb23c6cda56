"""Ids as people read and type them: no longer than it takes to tell them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

LEAST = 8
"""Characters that are always shown, beside the words that an id begins with."""

# Ids of other agents' sessions begin with words that many of them share: claude-, mcp-.
_WORDS = re.compile(r"(?:[A-Za-z_]+-)*")


def shorten_ids(ids: Iterable[str], among: Iterable[str] = ()) -> dict[str, str]:
    """For each id, a beginning that no other of these, nor of those in `among`, begins with.

    An id that is itself the beginning of another stays whole. Every command that takes an id looks
    for the whole one first.
    """
    wanted = list(ids)
    known = sorted({*wanted, *among})
    places = {id: place for place, id in enumerate(known)}
    return {id: _shorten(id, known, places[id]) for id in wanted}


def shorten_id(id: str, among: Iterable[str] = ()) -> str:
    """The short form of one id, which no other in `among` begins with."""
    return shorten_ids([id], among)[id]


def _shorten(id: str, known: list[str], place: int) -> str:
    """In sorted order, the ids that have most in common with one stand beside it."""
    beside = known[max(0, place - 1) : place] + known[place + 1 : place + 2]
    shared = max((_count_shared(id, other) for other in beside), default=0)
    words = _WORDS.match(id)
    return id[: max(shared + 1, (words.end() if words else 0) + LEAST)]


def _count_shared(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

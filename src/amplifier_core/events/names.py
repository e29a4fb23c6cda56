"""What an event may be called, and which known one a name nearly is."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from amplifier_core.events import ALL_EVENTS, canonical, spellings
from amplifier_core.utils.suggest import differs_by_one

KNOWN = frozenset(one for event in ALL_EVENTS for one in spellings(event))
"""Every event, in each of its spellings."""

_PATTERNS = frozenset(
    pattern
    for group, _, moment in (event.partition(":") for event in KNOWN)
    for pattern in (f"{group}:*", f"*:{moment}")
)


def check_event(event: Any) -> None:
    """Refuse what cannot be the name of an event."""
    if not isinstance(event, str):
        hint = "; the event comes first: 'tool:pre'" if callable(event) else ""
        raise TypeError(f"An event name must be a string, got {event!r}{hint}")
    if not event.strip():
        raise ValueError(f"An event name must not be empty, got {event!r}")


@lru_cache(maxsize=1000)
def find_meant(event: str) -> str | None:
    """The known event, or pattern of some, that a name misspells; None for a name of its own."""
    if event in KNOWN:
        return None
    if "*" not in event:
        return _find_slip(event, KNOWN)
    if any(fnmatchcase(one, event) for one in KNOWN):
        return None
    return _find_slip(event, _PATTERNS)


def _find_slip(name: str, known: frozenset[str]) -> str | None:
    letters = _keep_letters(name)
    for one in sorted(known, key=lambda one: (one != canonical(one), one)):
        if differs_by_one(name.lower(), one) or _keep_letters(one) == letters:
            return one
    return None


def _keep_letters(name: str) -> str:
    """`ToolPre`, `tool_pre` and `tool.pre` are the letters of `tool:pre`."""
    return re.sub(r"[^a-z*]", "", name.lower())

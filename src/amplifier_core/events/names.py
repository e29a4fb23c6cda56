"""What an event may be called, and which known one a name nearly is."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from amplifier_core.events import ALL_EVENTS, canonical, spellings
from amplifier_core.events.foreign_names import keep_letters, translate
from amplifier_core.utils.suggest import differs_by_one

KNOWN = frozenset(one for event in ALL_EVENTS for one in spellings(event))
"""Every event, in each of its spellings."""

# Names of our families that have no constant: the first is ours, the others are of modules that
# exist. The one of another family is emitted by modules of ours.
_ALSO_EMITTED = frozenset(
    {"session:config", "tool:selecting", "tool:selected", "provider:selected", "user:prompt"}
    | {"mcp:list"}
)
_EXPECTED = KNOWN | _ALSO_EMITTED
_FAMILIES = frozenset(event.partition(":")[0] for event in KNOWN)
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


def is_custom(event: str) -> bool:
    """Whether nothing of ours emits an event that this name or pattern fits."""
    if "*" in event:
        return not any(fnmatchcase(one, event) for one in _EXPECTED)
    return event not in _EXPECTED


@lru_cache(maxsize=1000)
def find_problem(event: str) -> str | None:
    """Why an event of this name will never come; None if it is known or may be of a module's own.

    A module's own event has a family of its own: `deploy:start`. It may be declared, see
    `HookRegistry.declare`; a name of another form, or of one of our families, is a mistake.
    """
    if not is_custom(event):
        return None
    wrong = f"no known event matches {event!r}" if "*" in event else f"no event {event!r} is known"
    if (meant := find_meant(event)) is not None:
        return f"{wrong}; did you mean {meant!r}?"
    family, colon, _ = event.partition(":")
    if not colon:
        return f"{wrong}; one of a module's own is called like 'deploy:start'"
    if family in _FAMILIES:
        others = sorted(one for one in KNOWN if one.startswith(f"{family}:"))
        return f"{wrong}; have {', '.join(others)}"
    return None


@lru_cache(maxsize=1000)
def find_meant(event: str) -> str | None:
    """The known event, or pattern of some, that a name probably means; None for one of its own."""
    if not is_custom(event):
        return None
    if (slip := _find_slip(event, _PATTERNS if "*" in event else _EXPECTED)) is not None:
        return slip
    family, colon, _ = event.partition(":")
    return translate(event) if not colon or family in _FAMILIES else None


def _find_slip(name: str, known: frozenset[str]) -> str | None:
    letters = keep_letters(name)
    for one in sorted(known, key=lambda one: (one != canonical(one), one)):
        if differs_by_one(name.lower(), one) or keep_letters(one) == letters:
            return one
    return None

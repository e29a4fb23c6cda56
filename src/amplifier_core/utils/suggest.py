"""From a wrong name to the right one that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

_SHORTEST_BEGINNING = 3
_SLIP_IN_LENGTH = 2
_SLIP = 0.8


def find_closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that was probably meant, or None; letter case makes no difference.

    A name that begins like the wrong one comes first: `approv` means `approval_timeout`.
    """
    from difflib import get_close_matches  # imported late: most runs have no wrong name

    lowered = {choice.lower(): choice for choice in sorted(known)}
    wanted = name.lower()
    if len(wanted) >= _SHORTEST_BEGINNING:
        for choice in lowered:
            if choice.startswith(wanted):
                return lowered[choice]
    close = get_close_matches(wanted, lowered, n=1, cutoff=cutoff)
    return lowered[close[0]] if close else None


def find_slip(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one misspells: hardly longer or shorter, most letters in place."""
    from difflib import get_close_matches

    as_long = [one for one in known if abs(len(one) - len(name)) <= _SLIP_IN_LENGTH]
    return next(iter(get_close_matches(name.lower(), as_long, n=1, cutoff=_SLIP)), None)


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: `did you mean 'x'?` or `have ['x', 'y']`."""
    choices = sorted(known)
    found = find_closest(name, choices)
    return f"have {choices}" if found is None else f"did you mean {found!r}?"

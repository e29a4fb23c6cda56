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

    wanted, choices = name.lower(), list(known)
    for one in choices:
        if differs_by_one(wanted, one):
            return one
    as_long = [one for one in choices if abs(len(one) - len(name)) <= _SLIP_IN_LENGTH]
    return next(iter(get_close_matches(wanted, as_long, n=1, cutoff=_SLIP)), None)


def differs_by_one(name: str, other: str) -> bool:
    """Whether one letter is too many, missing, wrong or swapped with the next, and no more."""
    start = _count_common(name, other)
    name, other = name[start:], other[start:]
    end = _count_common(name[::-1], other[::-1])
    name, other = name[: len(name) - end], other[: len(other) - end]
    return max(len(name), len(other)) <= 1 or (len(name) == 2 and name == other[::-1])


def _count_common(name: str, other: str) -> int:
    pairs = enumerate(zip(name, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(name), len(other)))


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: `did you mean 'x'?` or `have x, y`."""
    choices = sorted(known)
    found = find_closest(name, choices)
    return f"have {list_names(choices)}" if found is None else f"did you mean {found!r}?"


def list_names(names: Iterable[object]) -> str:
    """Names as a sentence has them: `x, y`, or `none`."""
    return ", ".join(map(str, names)) or "none"

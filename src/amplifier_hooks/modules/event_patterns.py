"""Which events a module listens to, as patterns such as `tool:*`."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from amplifier_core.events import spellings


def matches_any(patterns: Iterable[str], event: str) -> bool:
    """Whether a pattern matches the event under any of its spellings."""
    return _matches_any(tuple(patterns), event)


@lru_cache(maxsize=4096)
def _matches_any(patterns: tuple[str, ...], event: str) -> bool:
    names = spellings(event)
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)

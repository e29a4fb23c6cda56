"""How the words of a command can be read as paths: each from each folder that it may run in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from amplifier_hooks.guards.bash import Word

MOST_READINGS = 10_000
"""More would keep everybody waiting who is judged by the same process."""


def list_readings(words: Sequence[Word], bases: Sequence[Path]) -> Iterator[tuple[Word, Path]]:
    """Each word with each folder; ValueError where they are too many to be looked at."""
    if len(words) * len(bases) > MOST_READINGS:
        raise ValueError(f"the command has {len(words)} words, too many to be looked at")
    return product(words, bases)

"""The size of an answer: long texts, wide lists and deep nesting are cut, and say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a text, how wide a list or mapping, and how deep a value may be."""

    text: int
    members: int
    depth: int


BRIEF = Bounds(text=400, members=24, depth=6)
"""For values in a list of many."""
FULL = Bounds(text=16_000, members=256, depth=16)
"""For one thing, looked at by itself."""
_CUT_KEY = 200


def cut(value: Any, bounds: Bounds, depth: int = 0) -> Any:
    """The value within its bounds."""
    if isinstance(value, str):
        return cut_text(value, bounds.text)
    if isinstance(value, Mapping):
        return _cut_mapping(value, bounds, depth)
    if isinstance(value, list | tuple):
        return _cut_list(value, bounds, depth)
    return value


def cut_text(text: str, most: int) -> str:
    """At most so many characters, and how many more there were."""
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}… ({left:,} more characters)"


def _cut_mapping(value: Mapping[Any, Any], bounds: Bounds, depth: int) -> Any:
    if depth >= bounds.depth and value:
        return f"… (an object with {len(value):,} members)"
    kept = {
        cut_text(str(key), _CUT_KEY): cut(one, bounds, depth + 1)
        for key, one in islice(value.items(), bounds.members)
    }
    left = len(value) - bounds.members
    return kept if left <= 0 else {**kept, "…": f"{left:,} more members"}


def _cut_list(value: list[Any] | tuple[Any, ...], bounds: Bounds, depth: int) -> Any:
    if depth >= bounds.depth and value:
        return f"… (a list of {len(value):,})"
    kept = [cut(one, bounds, depth + 1) for one in value[: bounds.members]]
    left = len(value) - bounds.members
    return kept if left <= 0 else [*kept, f"… ({left:,} more)"]

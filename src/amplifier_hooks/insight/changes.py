"""The difference of two values, down to the fields: for events, records and answers of hooks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST_LEVELS = 100
"""Below these, values are compared as a whole: no writer of trails nests as deep."""


@dataclass(frozen=True, slots=True)
class Change:
    """A field that is not what it was."""

    field: str
    """Its path, such as `tool_input.edits[0].text`; empty for the value as a whole."""
    then: Any
    now: Any


def find_changes(
    then: Any,
    now: Any,
    field: str = "",
    *,
    missing: Any = None,
    is_same: Callable[[Any, Any], bool] = operator.eq,
    levels: int = MOST_LEVELS,
) -> Iterator[Change]:
    """The fields that differ, as deep as both sides have the same shape.

    `missing` stands for a field that one side does not have.
    """
    if is_same(then, now):
        return
    pairs = _pair_fields(then, now, field, missing) if levels else None
    if pairs is None:
        yield Change(field, then, now)
        return
    for inner, before, after in pairs:
        yield from find_changes(
            before, after, inner, missing=missing, is_same=is_same, levels=levels - 1
        )


def _pair_fields(
    then: Any, now: Any, field: str, missing: Any
) -> list[tuple[str, Any, Any]] | None:
    """What stands under the same name or at the same place; None for values without fields."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        return [
            (
                f"{field}.{name}" if field else str(name),
                then.get(name, missing),
                now.get(name, missing),
            )
            for name in dict.fromkeys([*then, *now])
        ]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [
            (f"{field}[{place}]", before, after)
            for place, (before, after) in enumerate(zip(then, now, strict=True))
        ]
    return None


def repeat_change(
    before: Mapping[str, Any], after: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, Any]:
    """The data of an event, changed as hooks once changed `before` to `after`."""
    kept = {name: data[name] for name in data if name in after or name not in before}
    changed = {
        name: value for name, value in after.items() if name not in before or before[name] != value
    }
    return kept | changed

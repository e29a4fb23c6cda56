"""A change of an event's data: which field, what it was, what it is now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.utils import safe_repr

SHOWN = 120
"""Characters of a value that are shown, around the first that differs."""
_LEAD = 30
_MISSING = object()


@dataclass(frozen=True, slots=True)
class DataChange:
    """One field that differs; `before` or `after` is empty where the field is not there."""

    field: str
    before: str
    after: str

    def __str__(self) -> str:
        if not self.before:
            return f"added: {self.after}"
        if not self.after:
            return f"removed: {self.before}"
        return f"{self.before} → {self.after}"


def find_changes(before: Any, after: Any, field: str = "") -> Iterator[DataChange]:
    """The fields that differ, as deep as both sides have the same shape."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            inner = f"{field}.{key}" if field else str(key)
            old, new = before.get(key, _MISSING), after.get(key, _MISSING)
            yield from find_changes(old, new, inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from find_changes(old, new, f"{field}[{index}]")
    elif before != after:
        yield DataChange(field, *_clip_both(_write(before), _write(after)))


def _write(value: Any) -> str:
    if value is _MISSING:
        return ""
    try:
        return json.dumps(value, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # odd keys, cycles, great depth
        return safe_repr(value)


def _clip_both(before: str, after: str) -> tuple[str, str]:
    """Both values from shortly before the place where they part."""
    if max(len(before), len(after)) <= SHOWN:
        return before, after
    pairs = enumerate(zip(before, after, strict=False))
    parting = next((at for at, (old, new) in pairs if old != new), 0)
    start = max(0, parting - _LEAD)
    return _clip(before, start), _clip(after, start)


def _clip(text: str, start: int) -> str:
    end = start + SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")

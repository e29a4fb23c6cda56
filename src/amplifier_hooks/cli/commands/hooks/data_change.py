"""A change of an event's data: which field, what it was, what it is now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from amplifier_core.utils import safe_repr
from amplifier_hooks.insight.changes import find_changes

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


def describe_changes(before: Any, after: Any) -> Iterator[DataChange]:
    """The fields that differ, each as texts of bounded length."""
    for one in find_changes(before, after, missing=_MISSING):
        yield DataChange(one.field, *_clip_both(_write(one.then), _write(one.now)))


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

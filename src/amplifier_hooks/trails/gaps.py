"""What a trail does not have of an event's data: cut, committed, left out or masked values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from amplifier_core.events import canonical, payload_type

_LEFT_OUT = ("messages", "response", "mount_plan")
_WITHHELD = "[withheld: a scrubber failed]"
_MASK = re.compile(r"\[REDACTED(:[^\]]*)?\]|\[secret\]")

_DEEPEST = 100
"""Writers cut values far before; whoever goes through such data needs room for it."""


def find_missing(event: str, data: Any) -> dict[str, str]:
    """The paths of the values that are not there, each with the reason; RecursionError for data
    that no writer has written."""
    missing = dict(_walk_missing(data, ""))
    payload = payload_type(canonical(event))
    fields = {} if payload is None else payload.__annotations__
    for name in _LEFT_OUT:
        if name in fields and name not in data:
            missing[name] = "trails do not repeat it"
    return missing


def _walk_missing(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        raise RecursionError("nested deeper than any writer nests")
    if reason := explain_gap(value):
        yield path, reason
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _walk_missing(entry, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _walk_missing(entry, f"{path}[{index}]", depth + 1)


def explain_gap(value: Any) -> str:
    """Why a value is not there; empty if it is."""
    if isinstance(value, dict):
        if "$commitment" in value:
            if value.get("missing"):
                return "missing, and no record says that it was redacted"
            return "redacted" if value.get("redacted") else "committed, and its value is not here"
        if "$cut" in value:
            return "too long for a record"
    return "withheld" if value == _WITHHELD else ""


def find_masked(value: Any, path: str = "") -> Iterator[str]:
    """The paths of texts in which something was masked."""
    if isinstance(value, str):
        if _MASK.search(value):
            yield path
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from find_masked(entry, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from find_masked(entry, f"{path}[{index}]")

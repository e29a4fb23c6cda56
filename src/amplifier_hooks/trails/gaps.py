"""Gaps in the data of a recorded event: cut, committed, left out or masked values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from amplifier_core.events import canonical, payload_type
from amplifier_core.utils.nested import iterate_paths

_LEFT_OUT = ("messages", "response", "mount_plan")
_WITHHELD = "[withheld: a scrubber failed]"
_MASK = re.compile(r"\[REDACTED(:[^\]]*)?\]|\[secret\]")

_DEEPEST = 100
"""Writers cut values far before; whoever goes through such data needs room for it."""


def find_missing(event: str, data: Any) -> dict[str, str]:
    """The paths of the values that are not there, each with the reason; RecursionError for data
    that no writer has written."""
    missing: dict[str, str] = {}
    if not is_complete(data):
        parts = iterate_paths(data, _is_there, levels=_DEEPEST)
        missing = {path: why for path, part in parts if (why := explain_gap(part))}
    for name in _list_left_out(event):
        if name not in data:
            missing[name] = "trails do not repeat it"
    return missing


@lru_cache(maxsize=256)
def _list_left_out(event: str) -> tuple[str, ...]:
    """The fields of an event that no trail has; remembered, because each event is asked about."""
    payload = payload_type(canonical(event))
    fields = {} if payload is None else payload.__annotations__
    return tuple(name for name in _LEFT_OUT if name in fields)


def is_complete(data: Any) -> bool:
    """Whether nothing in it is missing or masked, as nearly always; if not, its paths tell more."""
    level = [data]
    for _ in range(_DEEPEST):
        deeper: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                if "$commitment" in part or "$cut" in part:
                    return False
                deeper += part.values()
            elif isinstance(part, list):
                deeper += part
            elif isinstance(part, str) and "[" in part and _is_masked(part):
                return False
        if not deeper:
            return True
        level = deeper
    return False


def _is_masked(text: str) -> bool:
    return text == _WITHHELD or _MASK.search(text) is not None


def _is_there(value: Any) -> bool:
    return not explain_gap(value)


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


def find_masked(value: Any) -> Iterator[str]:
    """The paths of texts in which something was masked."""
    if is_complete(value):
        return
    for path, part in iterate_paths(value):
        if isinstance(part, str) and _MASK.search(part):
            yield path

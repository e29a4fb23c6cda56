"""Gaps in the data of a recorded event: cut, committed, left out or masked values."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    parts = iterate_paths(data, _is_there, levels=_DEEPEST)
    missing = {path: why for path, part in parts if (why := explain_gap(part))}
    payload = payload_type(canonical(event))
    fields = {} if payload is None else payload.__annotations__
    for name in _LEFT_OUT:
        if name in fields and name not in data:
            missing[name] = "trails do not repeat it"
    return missing


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
    for path, part in iterate_paths(value):
        if isinstance(part, str) and _MASK.search(part):
            yield path

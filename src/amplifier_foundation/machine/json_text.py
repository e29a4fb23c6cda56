"""JSON of any value. Never raises, whatever the value is made of."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_json

from amplifier_core.utils import safe_repr

_DEEPEST = 40
_MOST_NODES = 50_000
_LARGEST = 2**63


def encode_json(value: Any) -> bytes:
    """The value as JSON in ASCII, on one line."""
    try:
        return to_json(
            value,
            ensure_ascii=True,
            serialize_unknown=True,
            inf_nan_mode="strings",
            bytes_mode="base64",
        )
    except Exception:  # noqa: BLE001 - a value's own code may raise anything while it is written
        return json.dumps(to_plain(value), ensure_ascii=True).encode("ascii")


def to_plain(value: Any) -> Any:
    """The value in terms of JSON: odd objects by their `repr`, what is too deep not at all."""
    return _Walk().visit(value, 0)


class _Walk:
    """Goes through a value once, and not for ever."""

    def __init__(self) -> None:
        self._left = _MOST_NODES

    def visit(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if value is None or isinstance(value, bool | str):
            return value
        if depth >= _DEEPEST or self._left < 0:
            return "…"
        if isinstance(value, dict):
            entries = list(value.items())
            return {_key(key): self.visit(entry, depth + 1) for key, entry in entries}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.visit(entry, depth + 1) for entry in list(value)]
        return _number(value) if isinstance(value, int | float) else safe_repr(value)


def _number(value: float) -> float | str:
    """Numbers that every reader of JSON understands, others as text."""
    return value if abs(value) < _LARGEST else safe_repr(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else safe_repr(key)

"""JSON of any value. Never raises, whatever the value is made of."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_json

from amplifier_core.utils import safe_repr
from amplifier_core.utils.nested import convert
from amplifier_hooks.machine.text import to_text

_DEEPEST = 40
_MOST_PARTS = 50_000
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
    """The value as JSON can hold it: other objects by their `repr`, what is too deep as `…`."""
    return convert(
        value,
        _convert_leaf,
        key=to_text,
        max_depth=_DEEPEST,
        max_parts=_MOST_PARTS,
        at_limit=lambda: "…",
    )


def _convert_leaf(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    return _convert_number(value) if isinstance(value, int | float) else safe_repr(value)


def _convert_number(value: float) -> float | str:
    """Keep numbers that every reader of JSON understands; write others as text."""
    return value if abs(value) < _LARGEST else safe_repr(value)

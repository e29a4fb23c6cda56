"""Single values: names, lengths of time, JSON and texts, each kept as it is or refused."""

from __future__ import annotations

import math
from typing import Any

from amplifier_hooks.approvals.stores.errors import BadRequest
from amplifier_hooks.approvals.stores.values.plain import to_json

NAME = 400
"""Characters of a name."""
PATH = 4096


def read_name(field: str, value: Any, *, may_be_empty: bool = False, most: int = NAME) -> str:
    """A short text that identifies something; it must be kept as it is, or not at all."""
    if not isinstance(value, str):
        raise BadRequest(f"The {field} is text, not {type(value).__name__}")
    if not value and not may_be_empty:
        raise BadRequest(f"The {field} is empty")
    if len(value) > most:
        raise BadRequest(f"The {field} has {len(value)} characters; at most {most} are kept")
    if value != clean_text(value, most):
        raise BadRequest(f"The {field} has a NUL character or half of a surrogate pair")
    return value


def read_seconds(field: str, value: Any, most: float) -> float:
    """A length of time above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise BadRequest(f"The {field} is {value!r}; use seconds above 0 and up to {most:g}")
    if not math.isfinite(value):
        raise BadRequest(f"The {field} is {value!r}; use a finite number of seconds")
    return float(value)


def write_json(field: str, value: Any, most: int) -> str:
    """The value as JSON text within a limit."""
    try:
        text = to_json(value)
    except ValueError as error:
        raise BadRequest(f"The {field} cannot be kept as JSON: {error}") from error
    if len(text) > most:
        raise BadRequest(f"The {field} takes {len(text)} bytes as JSON; at most {most} are kept")
    return text


def clean_text(text: str, most: int) -> str:
    """A text for people to read: cut to its limit, without what a database cannot keep."""
    if text.isascii() and "\0" not in text:
        return text[:most]
    kept = text[:most].replace("\0", "\N{REPLACEMENT CHARACTER}")
    return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= c <= "\udfff" else c for c in kept)

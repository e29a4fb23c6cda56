"""Fields of a payload that somebody else wrote: nothing says that they have the right type."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def get_text(payload: Mapping[str, Any], key: str) -> str:
    """The text under a key; empty where there is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def require_text(payload: Mapping[str, Any], key: str) -> str:
    """The text under a key that nothing can be judged without."""
    value = payload.get(key)
    if not isinstance(value, str):
        raise TypeError(f"{key!r} must be a text, got {type(value).__name__}")
    return value


def require_object(payload: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object under a key that nothing can be judged without."""
    value = payload.get(key)
    if not isinstance(value, Mapping):
        raise TypeError(f"{key!r} must be an object, got {type(value).__name__}")
    return dict(value)


def get_number(payload: Mapping[str, Any], key: str) -> int:
    """The whole number under a key; 0 where there is none."""
    value = payload.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return int(value)


def rename_keys(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The fields under their new names; none hides behind another that had this name before."""
    renamed = {names[key]: value for key, value in fields.items() if key in names}
    return {**{key: value for key, value in fields.items() if key not in names}, **renamed}

"""Values as JSON: as they travel, and as they are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

DEEPEST = 100
"""How deeply what is kept may be nested."""

_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_BETWEEN_BRACKETS = re.compile(r"[^\[\]{}]+")


class TooDeep(ValueError):
    """What is nested so deeply that those who read it later may fail."""


def to_plain(value: Any) -> Any:
    """What the encoder of JSON does not know: a model as a whole, of others one level."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _list_fields(type(value))}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no part of JSON")


@cache
def _list_fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=to_plain).encode


def to_json(value: Any) -> str:
    """As ASCII text, which every database keeps as it is; ValueError if it cannot be JSON."""
    try:
        return _encode(value)
    except RecursionError as error:
        raise TooDeep(_TOO_DEEP) from error
    except TypeError as error:
        raise ValueError(str(error)) from error


def to_kept_json(value: Any) -> str:
    """The same for a store: TooDeep if whoever lists what is kept could fail with it."""
    text = to_json(value)
    if text.count("{") + text.count("[") > DEEPEST and _measure_depth(text) > DEEPEST:
        raise TooDeep(_TOO_DEEP)
    return text


def _measure_depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BETWEEN_BRACKETS.sub("", _STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest

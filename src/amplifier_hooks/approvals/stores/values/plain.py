"""The values of a store as plain data, and back: as they are kept, and as they travel."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from amplifier_hooks.approvals.stores.values.approval import (
    Approval,
    ApprovalRequest,
    Option,
    Requirement,
    Vote,
)

T = TypeVar("T")

DEEPEST = 100
"""How deeply what is kept may be nested."""

_FIELDS: dict[Any, tuple[str, ...]] = {}
_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_BETWEEN_BRACKETS = re.compile(r"[^\[\]{}]+")


def list_fields(kind: Any) -> tuple[str, ...]:
    """The names of a dataclass's fields."""
    known = _FIELDS.get(kind)
    if known is None:
        known = _FIELDS[kind] = tuple(field.name for field in fields(kind))
    return known


def to_plain(value: Any) -> Any:
    """Dataclasses and mappings as dictionaries, sequences and sets as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(getattr(value, name)) for name in list_fields(type(value))}
    if isinstance(value, Mapping):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(to_plain(one) for one in value)
    return value


class TooDeep(ValueError):
    """What is nested so deeply that those who read it later may fail."""


def to_json(value: Any) -> str:
    """As ASCII text, which every database keeps as it is; ValueError if it cannot be JSON.

    TooDeep, because whoever lists what waits would fail with a single value of that kind in it.
    """
    try:
        text = _encode(value)
    except RecursionError as error:
        raise TooDeep(_TOO_DEEP) from error
    except TypeError as error:
        raise ValueError(str(error)) from error
    if text.count("{") + text.count("[") > DEEPEST and _measure_depth(text) > DEEPEST:
        raise TooDeep(_TOO_DEEP)
    return text


def _measure_depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BETWEEN_BRACKETS.sub("", _STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _open(value: Any) -> Any:
    """One level of what the encoder does not know."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in list_fields(type(value))}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no part of JSON")


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_open).encode


def read_request(data: Mapping[str, Any]) -> ApprovalRequest:
    """A request from its plain form."""
    read: dict[str, Any] = dict(data)
    read["options"] = tuple(read_plain(Option, one) for one in data.get("options", ()))
    read["notes"] = tuple(data.get("notes", ()))
    read["requirement"] = read_plain(Requirement, data.get("requirement", {}))
    return read_plain(ApprovalRequest, read)


def read_approval(data: Mapping[str, Any]) -> Approval:
    """An approval from its plain form."""
    read: dict[str, Any] = dict(data)
    read["request"] = read_request(data["request"])
    read["votes"] = tuple(read_plain(Vote, one) for one in data.get("votes", ()))
    return read_plain(Approval, read)


def read_plain(kind: type[T], data: Mapping[str, Any]) -> T:
    """A flat value from its plain form; what a newer version added is passed over."""
    names = list_fields(kind)
    return kind(**{name: data[name] for name in names if name in data})

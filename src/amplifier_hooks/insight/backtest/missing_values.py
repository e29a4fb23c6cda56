"""A gap: stands in recorded data where a trail does not have the value, and notices who looks.

A gap passes through copies and comparisons of whole events unharmed. A hook that asks it for
anything, even for its type, fails, and is noted: what it would have decided cannot be told.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from amplifier_core.events import payload_type

_MACHINERY = frozenset(
    {
        "amplifier_core.dispatch",
        "amplifier_core.hooks",
        "amplifier_core.utils.copying",
        "amplifier_core.registration",
    }
)
"""What copies and compares the data of events for every hook."""
_ASKED = [
    "bool",
    "len",
    "iter",
    "next",
    "getitem",
    "setitem",
    "delitem",
    "contains",
    "reversed",
    "call",
    "int",
    "float",
    "complex",
    "index",
    "bytes",
    "fspath",
    "enter",
    "exit",
    "lt",
    "le",
    "gt",
    "ge",
    "add",
    "radd",
    "iadd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "mod",
    "rmod",
    "and",
    "or",
    "rand",
    "ror",
    "xor",
    "neg",
    "abs",
    "round",
    "format",
    "length_hint",
]


class MissingValue(Exception):
    """A hook looked at a value that the trail does not have."""


@dataclass(frozen=True, slots=True)
class GapAccess:
    """Which hook looked at which missing field, and why that is missing."""

    hook: str
    field: str
    why: str


@dataclass(slots=True)
class GapAccesses:
    """Who looked at gaps while an event was judged; `hook` is the one that runs."""

    hook: str = ""
    seen: list[GapAccess] = field(default_factory=list)

    def take(self) -> tuple[GapAccess, ...]:
        """What was noted since the last time."""
        if not self.seen:
            return ()
        seen = self.seen
        self.seen = []
        return tuple(dict.fromkeys(seen))


class Gap:
    """One missing value."""

    __slots__ = ("_field", "_looks", "_why")

    def __init__(self, field: str, why: str, looks: GapAccesses) -> None:
        self._field = field
        self._why = why
        self._looks = looks

    def _note(self) -> MissingValue:
        if self._looks.hook:
            self._looks.seen.append(GapAccess(self._looks.hook, self._field, self._why))
        return MissingValue(f"the trail does not have {self._field}: {self._why}")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance asks for this
        if self._looks.hook and not _is_machinery(sys._getframe(1)):
            self._note()
        return Gap

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # such as what tells records from other objects
            raise AttributeError(name)
        raise self._note()

    def __eq__(self, other: object) -> bool:
        if self._looks.hook and self is not other:
            raise self._note()
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        if self._looks.hook:
            raise self._note()
        return id(self)

    def __repr__(self) -> str:
        if self._looks.hook:
            raise self._note()
        return f"[not in the trail: {self._why}]"

    __str__ = __repr__

    def __copy__(self) -> Gap:
        return self

    def __deepcopy__(self, _memo: Any) -> Gap:
        return self


def _is_machinery(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_globals.get("__name__") == "abc":
        frame = frame.f_back  # `isinstance` of an abstract class asks from there
    name = "" if frame is None else str(frame.f_globals.get("__name__"))
    return name in _MACHINERY or name.startswith(("pydantic", "amplifier_core.models"))


def _refuse(self: Gap, *_: Any) -> Any:
    raise self._note()


for _name in _ASKED:
    setattr(Gap, f"__{_name}__", _refuse)


def fill_gaps(
    data: Mapping[str, Any], left: Mapping[str, Any], missing: Mapping[str, str], looks: GapAccesses
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data of an event, and what was left of it, with the same gaps in both."""
    gaps = {path: Gap(path, why, looks) for path, why in missing.items()}
    given = {name: gaps[name] for name in missing if name not in data and _is_name(name)}
    shown = {key: _fill(value, key, gaps) for key, value in data.items()} | given
    kept = {
        key: shown[key] if key in data and value == data[key] else _fill(value, key, gaps)
        for key, value in left.items()
    }
    return shown, given | kept


def make_gaps(event: str, why: str, looks: GapAccesses) -> dict[str, Any]:
    """The data of an event of which the trail has nothing: a gap for each field that it had."""
    payload = payload_type(event)
    fields = {} if payload is None else payload.__annotations__
    return {name: Gap(name, why, looks) for name in fields}


def _is_name(path: str) -> bool:
    return "." not in path and "[" not in path


def _fill(value: Any, path: str, gaps: Mapping[str, Gap]) -> Any:
    if path in gaps:
        return gaps[path]
    if isinstance(value, dict):
        return {key: _fill(one, f"{path}.{key}", gaps) for key, one in value.items()}
    if isinstance(value, list):
        return [_fill(one, f"{path}[{index}]", gaps) for index, one in enumerate(value)]
    return value

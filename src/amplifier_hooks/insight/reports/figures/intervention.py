"""What hooks did about an event, one value for each time that mattered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from amplifier_hooks.insight.reports.figures.excerpt import SHORT, Excerpt, cut_value

Kind = Literal["denial", "change", "injection", "failure", "shadow", "message"]

MOST_FIELDS = 8
_FIELD_LENGTH = 600
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Field:
    """A value that a hook changed."""

    path: str
    before: Excerpt
    after: Excerpt


@dataclass(frozen=True, slots=True)
class Intervention:
    """A denial, a change, an injection, a failure, or what shadow mode kept from happening."""

    kind: Kind
    time: str
    turn: int
    hook: str
    event: str
    about: str = ""
    """What it was about: the call, the prompt."""
    reason: str = ""
    fields: tuple[Field, ...] = ()
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A call that was denied, and of which the agent shows a result all the same."""

    time: str
    turn: int
    session: str
    hook: str
    """Who denied it."""
    tool: str
    id: str
    about: str
    reason: str
    agent: str
    """Who shows the result."""
    shown: str
    """`result` or `failure`."""
    success: bool


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Field, ...]:
    """The values that differ, as deep as their paths are the same."""
    found: list[Field] = []
    for path, old, new in _walk(before, after, ""):
        if len(found) == MOST_FIELDS:
            break
        old_text, new_text = cut_value(old, _FIELD_LENGTH), cut_value(new, _FIELD_LENGTH)
        found.append(Field(path[:SHORT], old_text, new_text))
    return tuple(found)


def _walk(old: Any, new: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any, Any]]:
    if depth == _DEEPEST:
        yield path, old, new
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            inner = f"{path}.{key}" if path else str(key)
            yield from _walk(old.get(key), new.get(key), inner, depth + 1)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (left, right) in enumerate(zip(old, new, strict=True)):
            yield from _walk(left, right, f"{path}[{index}]", depth + 1)
    elif old != new:
        yield path, old, new

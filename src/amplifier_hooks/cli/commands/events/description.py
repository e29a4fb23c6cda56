"""The description of an event: when it happens and what it carries, read from its payload type."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from amplifier_core.events import ALL_EVENTS, canonical, is_notification, payload_type, spellings
from amplifier_core.events.event import EventData
from amplifier_hooks.guards.mcp.protocol import LIST

COMMON_FIELDS = {
    "session_id": "the session in which it happened",
    "timestamp": "when, in UTC, as ISO 8601",
    "parent_id": "in a sub-agent, the session that started it",
    "judged_again": "true if the hook is called again after a person was asked",
    "denied_by": "with session.run_all, the hook that has already denied it",
}
"""What every event carries besides its own fields."""

OF_MODULES = (LIST,)
"""Events that modules of ours tell; the kernel does not know them."""

# Events that share their type with another one, or are not told by every session.
_WHEN = {
    LIST: (
        "An MCP server has listed its tools, resources or prompts, or said how to use it; told by "
        "tool-mcp and by the gateway."
    ),
    "llm:request": "A provider of the ecosystem sends a request.",
    "llm:response": "A provider of the ecosystem received its response.",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event's data."""

    name: str
    type: str
    required: bool
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class EventDescription:
    """What a person who writes a hook needs to know of an event."""

    name: str
    also: str
    when: str
    can_stop: bool
    fields: tuple[Field, ...]


def list_events() -> list[str]:
    """Every event once, in the order a session meets them; then those of modules."""
    return [*(event for event in ALL_EVENTS if canonical(event) == event), *OF_MODULES]


def describe_event(event: str) -> EventDescription:
    """The description of a known event."""
    payload = payload_type(event) or EventData
    name, *others = spellings(event)
    when = " ".join(inspect.cleandoc(payload.__doc__ or "").split("\n\n")[0].split())
    return EventDescription(
        name,
        ", ".join(others),
        _WHEN.get(name) or when.partition("; also ")[0].rstrip(".") + ".",
        not is_notification(event),
        tuple(_list_fields(payload)),
    )


def _list_fields(payload: type) -> Iterator[Field]:
    meanings, common = _read_meanings(payload), get_type_hints(EventData)
    for name, kind in get_type_hints(payload, include_extras=True).items():
        if name not in common:
            absent = get_origin(kind) is NotRequired
            type_ = write_type(get_args(kind)[0] if absent else kind)
            yield Field(name, type_, not absent, meanings.get(name, ""))


def write_type(kind: Any) -> str:
    """A type as it is written in Python."""
    if get_origin(kind) is Literal:
        return " | ".join(repr(one) for one in get_args(kind))
    if is_typeddict(kind):
        fields = _list_fields(kind)
        return f"{{{', '.join(f'{one.name}{_mark(one)}: {one.type}' for one in fields)}}}"
    if isinstance(kind, type) and not get_args(kind):
        return "None" if kind is type(None) else kind.__name__
    return str(kind).replace("typing.", "")


def _mark(field: Field) -> str:
    return "" if field.required else "?"


@cache
def _read_meanings(payload: type) -> dict[str, str]:
    """The sentences below the fields, which only the source has."""
    try:
        (body,) = ast.parse(dedent(inspect.getsource(payload))).body
    except (OSError, SyntaxError, TypeError, ValueError):
        return {}
    found: dict[str, str] = {}
    lines = body.body if isinstance(body, ast.ClassDef) else []
    for field, text in pairwise(lines):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            meaning = ast.literal_eval(text.value)
            found[ast.unparse(field.target)] = " ".join(str(meaning).split())
    return found

"""Reading an event of another agent into one of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_hooks.coding_agents.dialects.dialect import TOOL, Dialect, NativeEvent
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload

_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[.\-]")


def read_payload(dialect: Dialect, native: str, text: bytes | str) -> Incoming:
    """The event that the agent tells of; UnreadablePayload says what is wrong with it."""
    row = dialect.events.get(native)
    if row is None:
        known = ", ".join(dialect.events)
        raise UnreadablePayload(f"{dialect.name} has no event {native!r}; it has {known}")
    payload = _parse(dialect, native, text)
    keys = row.keys or dialect.keys
    session = payload.get(keys.session)
    if not isinstance(session, str) or not session:
        raise UnreadablePayload(f"{dialect.name} {native}: {keys.session!r} must be a text")
    found = Incoming(
        event=name_event(native, row),
        data=_read_fields(dialect, native, row, payload),
        native=native,
        session_id=session,
        cwd=_read_text(payload, keys.cwd) or _read_first(payload, keys.roots),
        transcript=_read_text(payload, keys.transcript),
        call_id=_read_text(payload, keys.call),
        agent_id=_read_text(payload, keys.agent),
        parent_id=_read_text(payload, keys.parent),
        payload=payload,
    )
    return _read_tool(dialect, found) if row.matched == TOOL else found


def name_event(native: str, row: NativeEvent) -> str:
    """Our name of an event of theirs."""
    if row.becomes:
        return row.becomes
    if row.occasions:
        return row.occasions[0].event
    return f"guest:{_INNER_CAPITAL.sub('_', native).lower()}"


def _parse(dialect: Dialect, native: str, text: bytes | str) -> Mapping[str, Any]:
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadablePayload(f"{dialect.name} {native}: not JSON: {error}") from None
    if not isinstance(payload, dict):
        kind = type(payload).__name__
        raise UnreadablePayload(f"{dialect.name} {native}: expected an object, got {kind}")
    return payload


def _read_fields(
    dialect: Dialect, native: str, row: NativeEvent, payload: Mapping[str, Any]
) -> dict[str, Any]:
    try:
        return row.read_fields(payload)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise UnreadablePayload(f"{dialect.name} {native}: cannot be read: {error!r}") from error


def _read_tool(dialect: Dialect, found: Incoming) -> Incoming:
    """Name the tool and its input as we do, and find what else the call does."""
    name = found.data.get("tool_name")
    given = found.data.get("tool_input")
    if not isinstance(name, str) or not name or not isinstance(given, Mapping):
        shown = f"{name!r} with {type(given).__name__}"
        raise UnreadablePayload(f"{dialect.name} {found.native}: not a tool call: {shown}")
    ours = dialect.recognize_tool(name)
    data = {
        **found.data,
        "tool_name": ours,
        "tool_input": dialect.recognize_input(ours, given),
        "tool_call_id": found.call_id,
    }
    named = replace(found, data=data)
    return replace(named, also=_find_parts(dialect, named))


def _find_parts(dialect: Dialect, found: Incoming) -> tuple[dict[str, Any], ...]:
    """Before it runs, what else the call does: afterwards each part has been judged."""
    if "tool_result" in found.data or "error" in found.data:
        return ()
    try:
        return dialect.find_parts(found)
    except UnreadablePayload:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        where = f"{dialect.name} {found.native}"
        raise UnreadablePayload(f"{where}: cannot be taken apart: {error!r}") from error


def _read_first(payload: Mapping[str, Any], key: str) -> str:
    listed = payload.get(key)
    first = listed[0] if isinstance(listed, list) and listed else ""
    return first if isinstance(first, str) else ""


def _read_text(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""

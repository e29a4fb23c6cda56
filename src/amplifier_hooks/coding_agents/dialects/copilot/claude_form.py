"""Copilot CLI's events in PascalCase: the same fields in snake_case, and Claude's tool names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from amplifier_hooks.coding_agents.dialects.copilot import events
from amplifier_hooks.coding_agents.dialects.copilot.events import EVENTS, OLDER_NAMES, TOOL_NAMES
from amplifier_hooks.coding_agents.dialects.dialect import TOOL, Call, Keys, NativeEvent

CLAUDE_NAMES = {"Delegate": "Agent", "Todo": "TodoWrite"}
OTHER_NAMES = {**{theirs: ours for ours, theirs in TOOL_NAMES.items()}, **OLDER_NAMES}
"""What these tools are called where Copilot keeps its own names."""

CAMEL_KEYS = Keys(
    session="sessionId", transcript="transcriptPath", agent="agentId", parent="parentAgentId"
)
_MIXED_KEYS = Keys(session="sessionId", transcript="transcriptPath")
_STAYS_CAMEL = {"permissionRequest": CAMEL_KEYS, "subagentStart": _MIXED_KEYS}
"""Events that Copilot spells in camelCase all the same, the second but for the agents' ids."""

PASCAL_NAMES = {
    "preToolUse": "PreToolUse",
    "permissionRequest": "PermissionRequest",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "preMcpToolCall": "PreMcpToolCall",
    "userPromptSubmitted": "UserPromptSubmit",
    "userPromptTransformed": "UserPromptTransformed",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "preCompact": "PreCompact",
    "notification": "Notification",
    "errorOccurred": "ErrorOccurred",
}
_SPELLED = {"toolArgs": "tool_input", "response": "last_assistant_message"}
_CAMEL = {snake: camel for camel, snake in _SPELLED.items()}
_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AFTER_LINE = re.compile(r"_([a-z])")


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    told = events.build_common(call)
    if CLAUDE_EVENTS[call.native].keys is not None:
        return told
    moment = datetime.fromtimestamp(told["timestamp"] / 1000, UTC)
    return {
        "hook_event_name": call.native,
        "session_id": told["sessionId"],
        "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "cwd": told["cwd"],
    }


def write_snake(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The keys in snake_case, also those of a result; what a tool was given stays as it is."""
    return {
        _SPELLED.get(key) or _INNER_CAPITAL.sub("_", key).lower(): (
            write_snake(value) if key == "toolResult" else value
        )
        for key, value in payload.items()
    }


def read_snake(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The reverse; keys that are in snake_case in either spelling can be found under both."""
    spelled = {
        _CAMEL.get(key) or _AFTER_LINE.sub(lambda found: found[1].upper(), key): (
            read_snake(value) if key == "tool_result" and isinstance(value, Mapping) else value
        )
        for key, value in payload.items()
    }
    return {**payload, **spelled}


def _respell(native: str, row: NativeEvent) -> NativeEvent:
    if native in _STAYS_CAMEL:
        return replace(row, keys=_STAYS_CAMEL[native])
    if not row.occasions:
        return replace(row, read_fields=events.drop_common)

    def build(call: Call) -> dict[str, Any]:
        told = write_snake(row.build_fields(call))
        named = {"tool_name": CLAUDE_NAMES.get(call.tool, call.tool)}
        return {**told, **named} if row.matched == TOOL else told

    return replace(
        row,
        build_fields=build,
        read_fields=lambda payload: row.read_fields(read_snake(payload)),
    )


CLAUDE_EVENTS: dict[str, NativeEvent] = {
    name: _respell(native, EVENTS[native]) for native, name in PASCAL_NAMES.items()
}

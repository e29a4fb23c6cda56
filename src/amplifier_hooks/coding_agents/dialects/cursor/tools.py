"""Cursor's tools: what they and their fields are called."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_hooks.coding_agents.dialects.answer import parse_object
from amplifier_hooks.coding_agents.dialects.codex import patches
from amplifier_hooks.coding_agents.dialects.fields import get_text, require_text
from amplifier_hooks.external.incoming import Incoming

TOOL_NAMES = {"Bash": "Shell", "Delegate": "Task"}
INPUT_KEYS = {"Delegate": {"agent_name": "subagent_type", "task": "prompt"}}

OLDER_NAMES = {
    "ApplyPatch": "Edit",
    "Delete": "Edit",
    "EditNotebook": "NotebookEdit",
    "MultiStrReplace": "MultiEdit",
    "ReadFile": "Read",
    "StrReplace": "Edit",
}
"""Further names, by version: each is a tool that guards know under another one."""

_FILE_TOOLS = frozenset({"Read", "Write", "Edit", "MultiEdit"})
_FIELDS = {"path": "file_path", "target_file": "file_path", "contents": "content"}
_MCP = "MCP:"
UNKNOWN_SERVER = "unknown"


def read_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call under the names that guards know; an input may come as JSON in a text."""
    name = _read_name(payload)
    return {"tool_name": name, "tool_input": _rename_fields(name, _read_input(payload))}


def restore_fields(payload: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """A changed input with the fields that this call itself had."""
    given = _read_input(payload)
    theirs = {ours: one for one, ours in _FIELDS.items() if one in given and ours not in given}
    return {theirs.get(key, key): value for key, value in changed.items()}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """A command where it really runs, and each file of a patch."""
    name, given = incoming.data["tool_name"], incoming.data["tool_input"]
    folder = get_text(given, "working_directory") or get_text(given, "cwd")
    if name == "Bash" and folder and folder != incoming.cwd:
        command = f"cd {shlex.quote(folder)} && {get_text(given, 'command')}"
        return ({"tool_name": "Bash", "tool_input": {"command": command}},)
    patch = next((one for one in given.values() if _is_patch(one)), None)
    if name != "Edit" or patch is None:
        return ()
    data = {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    return patches.find_parts(replace(incoming, data=data))


def _is_patch(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(patches.BEGIN)


def is_from_server(payload: Mapping[str, Any]) -> bool:
    """Whether the tool belongs to an MCP server."""
    return get_text(payload, "tool_name").startswith((_MCP, "mcp__"))


def read_server_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A call of an MCP server's tool, from an event that is only about such."""
    name = require_text(payload, "tool_name").removeprefix(_MCP)
    return {"tool_name": _name_server_tool(payload, name), "tool_input": _read_input(payload)}


def _read_name(payload: Mapping[str, Any]) -> str:
    name = require_text(payload, "tool_name")
    if name.startswith(_MCP):
        return _name_server_tool(payload, name.removeprefix(_MCP))
    return OLDER_NAMES.get(name, name)


def _name_server_tool(payload: Mapping[str, Any], tool: str) -> str:
    if tool.startswith("mcp__"):
        return tool
    server = get_text(payload, "mcp_server_name") or UNKNOWN_SERVER
    return f"mcp__{server}__{tool}"


def _read_input(payload: Mapping[str, Any]) -> dict[str, Any]:
    given = payload.get("tool_input")
    if isinstance(given, str):
        given = parse_object(given)
    if not isinstance(given, Mapping):
        raise TypeError(f"'tool_input' must be an object, got {type(given).__name__}")
    return dict(given)


def _rename_fields(name: str, given: dict[str, Any]) -> dict[str, Any]:
    if name not in _FILE_TOOLS:
        return given
    renamed = {key: one for key, one in _FIELDS.items() if key in given}
    named = [*renamed.values(), *(key for key in renamed.values() if key in given)]
    if len(set(named)) < len(named):
        raise ValueError(f"more than one field says what {name} is about: {', '.join(given)}")
    return {renamed.get(key, key): value for key, value in given.items()}

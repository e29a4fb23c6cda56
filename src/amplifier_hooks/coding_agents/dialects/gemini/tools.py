"""Gemini CLI's tools: what they and their fields are called, and what else a call does."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from amplifier_hooks.coding_agents.dialects.fields import get_text, rename_keys, require_text
from amplifier_hooks.external.incoming import Incoming

TOOL_NAMES = {
    "Bash": "run_shell_command",
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "replace",
    "Glob": "glob",
    "Grep": "grep_search",
    "LS": "list_directory",
    "Todo": "write_todos",
    "Delegate": "invoke_agent",
    "WebFetch": "web_fetch",
    "WebSearch": "google_web_search",
}
INPUT_KEYS = {
    "Read": {"offset": "start_line"},
    "Edit": {"replace_all": "allow_multiple"},
    "Glob": {"path": "dir_path"},
    "Grep": {"path": "dir_path", "glob": "include_pattern"},
    "LS": {"path": "dir_path"},
    "Delegate": {"task": "prompt"},
}
OLDER_NAMES = {"search_file_content": "Grep"}


def build_tool(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A call of a tool of ours, as Gemini tells it."""
    theirs = rename_keys(given, INPUT_KEYS.get(name, {}))
    return {"tool_name": TOOL_NAMES.get(name, name), "tool_input": theirs}


def read_input(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a tool of ours, from what Gemini's has."""
    return rename_keys(given, {theirs: ours for ours, theirs in INPUT_KEYS.get(tool, {}).items()})


def read_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The tool call of a payload; a server's tool by the name that guards are written for."""
    name = require_text(payload, "tool_name")
    server = payload.get("mcp_context")
    if isinstance(server, Mapping):
        parts = (get_text(server, "server_name"), get_text(server, "tool_name"))
        name = "__".join(("mcp", *parts)) if all(parts) else name
    return {"tool_name": name, "tool_input": payload.get("tool_input")}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """A command where it really runs, and each of several files that are read at once."""
    name, given = incoming.data["tool_name"], incoming.data["tool_input"]
    if name == "Bash" and (folder := get_text(given, "dir_path")):
        command = f"cd {shlex.quote(folder)} && {get_text(given, 'command')}"
        return ({"tool_name": "Bash", "tool_input": {"command": command}},)
    if name == "read_many_files" and isinstance(given.get("include"), list):
        paths = (path for path in given["include"] if isinstance(path, str))
        return tuple({"tool_name": "Read", "tool_input": {"file_path": path}} for path in paths)
    return ()

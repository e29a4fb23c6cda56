"""Copilot CLI's tools: what they and their fields are called, and what else a call does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from amplifier_hooks.coding_agents.dialects.codex.patches import take_apart
from amplifier_hooks.coding_agents.dialects.fields import get_text, rename_keys
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload

TOOL_NAMES = {
    "Bash": "bash",
    "Read": "view",
    "Write": "create",
    "Edit": "edit",
    "Glob": "glob",
    "Grep": "grep",
    "Delegate": "task",
    "Todo": "update_todo",
    "WebFetch": "web_fetch",
}
OLDER_NAMES = {"str_replace": "Edit", "rg": "Grep"}
INPUT_KEYS = {
    "Read": {"file_path": "path"},
    "Write": {"file_path": "path", "content": "file_text"},
    "Edit": {"file_path": "path", "old_string": "old_str", "new_string": "new_str"},
    "Glob": {"path": "paths"},
    "Grep": {"path": "paths"},
    "Delegate": {"agent_name": "agent_type", "task": "prompt"},
}
_ENTER = re.compile(r"\{enter\}|\r\n?", re.IGNORECASE)
_KEY = re.compile(
    r"\{(?:up|down|left|right|home|end|tab|esc(?:ape)?|backspace|delete)\}", re.IGNORECASE
)
_EDITOR = {"view": "view", "create": "create", "str_replace": "edit", "insert": "edit"}


def build_input(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a tool of ours, with Copilot's names of its fields."""
    return rename_keys(given, INPUT_KEYS.get(tool, {}))


def read_input(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a tool of ours, from what Copilot's has."""
    return rename_keys(given, {theirs: ours for ours, theirs in INPUT_KEYS.get(tool, {}).items()})


def write_arguments(given: Any, changed: Mapping[str, Any]) -> Any:
    """Changed arguments in the shape of those that were given: an object, or a text alone."""
    return changed["input"] if isinstance(given, str) and changed.keys() == {"input"} else changed


def read_call(name: str, given: Any) -> dict[str, Any]:
    """A tool call, under the name of the tool that it amounts to."""
    given = _parse(given) if isinstance(given, str) else {} if given is None else given
    if name == "str_replace_editor" and isinstance(given, Mapping):
        name = _EDITOR.get(get_text(given, "command"), name)
    return {"tool_name": name, "tool_input": given}


def _parse(text: str) -> Any:
    """Arguments that came as JSON in a text; a patch is a text and nothing else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"input": text}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """The files of a patch; and what is typed into a shell that runs already is a command, too."""
    name, given = incoming.data["tool_name"], incoming.data["tool_input"]
    if name == "apply_patch" or (name == "Edit" and "file_path" not in given):
        return take_apart(given.get("input"), incoming.cwd)
    if name == "write_bash" and (typed := _read_typed(get_text(given, "input"))):
        return ({"tool_name": "Bash", "tool_input": {"command": typed}},)
    return ()


def _read_typed(text: str) -> str:
    """The lines that a shell would read; keys alone type none.

    UnreadablePayload where nobody can say what the line will be: half of one, or an edited one.
    """
    typed = _ENTER.sub("\n", text)
    if not _KEY.sub("", typed).strip():
        return ""
    if _KEY.search(typed) or not typed.endswith("\n"):
        raise UnreadablePayload(
            "what is typed into a shell can be judged in whole lines only: no other keys, and "
            "{enter} at the end"
        )
    return typed

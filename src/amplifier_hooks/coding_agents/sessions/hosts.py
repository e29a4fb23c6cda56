"""Which program called: some run what was installed for another one, and speak otherwise.

Copilot CLI, Cursor and VS Code read the settings of Claude Code, and VS Code those of Copilot CLI.
What they send tells them apart: marks in the environment are inherited by programs within them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from amplifier_hooks.coding_agents.daemon.request import Request
from amplifier_hooks.coding_agents.dialects import DIALECTS, Dialect, vscode
from amplifier_hooks.coding_agents.dialects.cursor.answers import write_blocking_reply

_UNDER_CLAUDE = "copilot-claude"
_NOT_COPILOT = frozenset({"permission_mode", "prompt_id", "tool_use_id", "hookEventName"})
_ONLY_CURSOR = frozenset({"conversation_id", "generation_id", "cursor_version"})
_TOOLS_OF_RELATIVES = {
    "run_shell_command": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "replace": "Edit",
    "edit": "Edit",
    "grep_search": "Grep",
    "glob": "Glob",
    "list_directory": "LS",
    "todo_write": "Todo",
}
"""Relatives of Gemini CLI, such as Qwen Code, speak as Claude Code does, with these tools."""

_READ_SEVERAL = frozenset({"copilot", "cursor", "vscode"})
_IN_CURSOR = {
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "PostToolUseFailure": "postToolUseFailure",
    "UserPromptSubmit": "beforeSubmitPrompt",
    "SessionStart": "sessionStart",
    "SessionEnd": "sessionEnd",
    "Stop": "stop",
    "SubagentStart": "subagentStart",
    "SubagentStop": "subagentStop",
    "PreCompact": "preCompact",
}
"""Cursor's names of the events that it finds in Claude Code's settings."""


class Told(NamedTuple):
    """An event, in the terms of the program that really sent it."""

    dialect: Dialect
    event: str
    payload: bytes
    advice: str = ""
    """What a person can do if it cannot be read, where the program reads another's settings."""


def recognize(request: Request) -> Told:
    """Whose event this is, by the line that it came by and by what it says."""
    payload = _parse(request.payload)
    if request.agent == "claude" and "COPILOT_CLI" in request.marks and _is_copilot(payload):
        dialect = replace(DIALECTS[_UNDER_CLAUDE], name="copilot")
        return Told(dialect, request.event, request.payload)
    if request.agent == "claude" and len(_ONLY_CURSOR & payload.keys()) > 1:
        # Whether it takes its own answers there is not known; that an exit code blocks, is.
        cursor = replace(DIALECTS["cursor"], write_reply=write_blocking_reply)
        return Told(cursor, _IN_CURSOR.get(request.event, request.event), request.payload)
    if request.agent in ("claude", "copilot") and vscode.is_from_vscode(request.agent, payload):
        told = json.dumps(vscode.spell(payload)).encode()
        return Told(vscode.DIALECT, vscode.name_event(request.event), told, vscode.ADVICE)
    dialect = DIALECTS[request.agent]
    if request.agent == "claude" and payload.get("tool_name") in _TOOLS_OF_RELATIVES:
        dialect = replace(dialect, older_names={**dialect.older_names, **_TOOLS_OF_RELATIVES})
    return Told(dialect, request.event, request.payload)


def can_be_called_twice(dialect: Dialect) -> bool:
    """Whether a program finds lines of ours in the settings of several agents."""
    return dialect.name in _READ_SEVERAL


def _is_copilot(payload: Mapping[str, Any]) -> bool:
    """Whether an event has what Copilot tells at each of them, and nothing that only Claude has.

    Its mark alone does not tell: a Claude that Copilot has started inherits it, and would not
    obey what is said to Copilot.
    """
    return "timestamp" in payload and payload.keys().isdisjoint(_NOT_COPILOT)


def _parse(payload: bytes) -> dict[str, Any]:
    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}

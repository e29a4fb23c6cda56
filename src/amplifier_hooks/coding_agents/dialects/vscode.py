"""VS Code's own agent, which runs what is in the settings of Claude Code and of Copilot CLI.

Written after its documentation (June and July 2026), and not tried with the editor. Its payloads
are Claude's, but for two things: some of the common fields are in camelCase (both spellings are
read), and its tools and their inputs have names of their own. It has fewer answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_hooks.coding_agents.dialects import claude
from amplifier_hooks.coding_agents.dialects.answer import parse_object
from amplifier_hooks.coding_agents.dialects.copilot import PASCAL_NAMES
from amplifier_hooks.coding_agents.dialects.dialect import (
    Call,
    Handler,
    NativeEvent,
    Power,
    Reply,
    build_reply,
)
from amplifier_hooks.coding_agents.dialects.patches import split_patch
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.guards.policy.tool_calls import TOOLS, is_reading, list_commands, list_paths

TOOL_NAMES = {
    "Bash": "run_in_terminal",
    "Read": "read_file",
    "Write": "create_file",
    "Edit": "replace_string_in_file",
    "NotebookEdit": "edit_notebook_file",
    "Glob": "file_search",
    "Grep": "grep_search",
    "LS": "list_dir",
    "Delegate": "runSubagent",
    "Todo": "manage_todo_list",
    "WebFetch": "fetch_webpage",
}
OTHER_NAMES = {
    "runInTerminal": "Bash",
    "runTerminalCommand": "Bash",
    "readFile": "Read",
    "createFile": "Write",
    "insert_edit_into_file": "Edit",
    "editFiles": "Edit",
    "multi_replace_string_in_file": "Edit",
}
"""As its documentation and older versions call them."""

_OF_ITS_OWN = frozenset({*TOOL_NAMES.values(), *OTHER_NAMES, "apply_patch", "create_directory"}) | {
    "create_and_run_task",
    "get_terminal_output",
    "get_errors",
    "run_vscode_command",
    "semantic_search",
}
_SHARED = frozenset({"read_file", "grep_search", "apply_patch"})
"""Tools that Gemini CLI, its relatives or Codex call the same."""

INPUT_KEYS = {
    "Read": {"file_path": "filePath"},
    "Write": {"file_path": "filePath"},
    "Edit": {"file_path": "filePath", "old_string": "oldString", "new_string": "newString"},
    "NotebookEdit": {"notebook_path": "filePath", "new_source": "newCode"},
    "Glob": {"pattern": "query"},
    "Grep": {"pattern": "query", "glob": "includePattern"},
    "Delegate": {"task": "prompt", "agent_name": "agentName"},
}
ADVICE = (
    "VS Code runs what is in the settings of Claude Code and of Copilot CLI, too; to keep it from "
    'that, set the file to false in its setting "chat.hookFilesLocations"'
)
_BLOCKED = 2
_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPELLED = {"tool_args": "tool_input", "tool_result": "tool_response"}
_POWERS: dict[str, frozenset[Power]] = {
    "PreToolUse": frozenset({"deny", "rewrite", "inject", "ask", "allow", "stop", "tell"}),
    "PostToolUse": frozenset({"inject", "stop", "tell"}),
    "UserPromptSubmit": frozenset({"deny", "tell"}),
    "SessionStart": frozenset({"inject", "tell"}),
    "Stop": frozenset({"deny", "stop", "tell"}),
    "SubagentStart": frozenset({"inject", "tell"}),
    "SubagentStop": frozenset({"deny", "tell"}),
    "PreCompact": frozenset({"tell"}),
}


def is_from_vscode(agent: str, payload: Mapping[str, Any]) -> bool:
    """Whether an event that came by the line of another agent is one of VS Code.

    Neither Claude Code nor Copilot CLI mixes the two spellings as VS Code does. Where it writes
    all of them as Claude Code does, only the names of its tools tell.
    """
    if "hookEventName" in payload:
        return True
    tool = payload.get("tool_name")
    if agent == "copilot":  # which spells everything in camelCase there
        own = "sessionId" in payload or "toolName" in payload
        return not own and ("session_id" in payload or tool is not None)
    return "sessionId" in payload or tool in _OF_ITS_OWN - _SHARED


def name_event(native: str) -> str:
    """VS Code's name of an event that Copilot CLI's settings have in camelCase."""
    return PASCAL_NAMES.get(native, native)


def spell(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as Claude Code spells them."""
    spelled = {}
    for key, value in payload.items():
        name = _INNER_CAPITAL.sub("_", key).lower()
        spelled[_SPELLED.get(name, name)] = value
    given = spelled.get("tool_input")
    if isinstance(given, str):
        spelled["tool_input"] = _parse(given)
    return spelled


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """What a call runs and touches besides what the tool of ours has that it is taken for."""
    name = incoming.data["tool_name"]
    given = incoming.data["tool_input"]
    if name == "apply_patch":
        return split_patch(given.get("input"), incoming.cwd)
    commands = list_commands(given) if name != "Bash" else ()
    runs = [{"tool_name": "Bash", "tool_input": {"command": one}} for one in commands]
    if is_reading(name) or name in TOOLS - {"Edit"} or name.startswith("mcp__"):
        return tuple(runs)
    paths = (one for one in dict.fromkeys(list_paths(given)) if one != given.get("file_path"))
    return (*runs, *map(_describe_edit, paths))


def _describe_edit(path: str) -> dict[str, Any]:
    given = {"file_path": path, "old_string": "", "new_string": ""}
    return {"tool_name": "Edit", "tool_input": given}


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """As Claude Code does; at the end of a turn, the decision may stand a step deeper."""
    return claude.read_reply(handler, call, replace(reply, stdout=_lift_decision(reply.stdout)))


def _lift_decision(text: str) -> str:
    printed = parse_object(text) or {}
    specific = printed.get("hookSpecificOutput")
    if not isinstance(specific, dict) or not isinstance(specific.get("decision"), str):
        return text
    keys = ("decision", "reason")
    lifted = {key: specific[key] for key in keys if key in specific}
    kept = {key: value for key, value in specific.items() if key not in keys}
    return json.dumps({**printed, **lifted, "hookSpecificOutput": kept})


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """Claude's answer; a prompt is refused by the exit code, and a stop in both places."""
    if incoming.native == "UserPromptSubmit" and verdict.decision == "deny":
        return Reply(code=_BLOCKED, stderr=verdict.reason or "")
    answer = claude.build_answer(incoming, verdict)
    if incoming.native == "Stop" and verdict.decision == "deny":
        specific = {"decision": "block", "reason": verdict.reason}
        answer["hookSpecificOutput"] = {"hookEventName": "Stop", **specific}
    return build_reply(answer)


def _limit(native: str, row: NativeEvent) -> NativeEvent:
    return replace(row, powers=_POWERS[native]) if native in _POWERS else row


DIALECT = replace(
    claude.DIALECT,
    name="vscode",
    events={native: _limit(native, row) for native, row in claude.EVENTS.items()},
    read_reply=read_reply,
    write_reply=write_reply,
    timeout=30.0,
    timeouts={},
    tool_names=TOOL_NAMES,
    older_names=OTHER_NAMES,
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
)

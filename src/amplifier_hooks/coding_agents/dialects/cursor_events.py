"""Events and tools of Cursor."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects import patches
from amplifier_hooks.coding_agents.dialects.answer import parse_object
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    NativeEvent,
    Occasion,
    Power,
    get_number,
    get_text,
    require_text,
)
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS

_THEIR_STATUS = {"success": "completed", "interrupted": "aborted"}
_OUR_STATUS = {"completed": "success", "aborted": "interrupted"}
_END_REASONS = {
    "aborted": "user_exit",
    "error": "error",
    "user_close": "user_exit",
    "window_close": "user_exit",
}


# The turn


def _build_prompt(call: Call) -> dict[str, Any]:
    return {"prompt": call.data.get("prompt", ""), "attachments": []}


def _read_prompt(payload: Mapping[str, Any]) -> dict[str, Any]:
    attached = payload.get("attachments")
    metadata = {"attachments": attached} if isinstance(attached, list) and attached else {}
    return {"prompt": require_text(payload, "prompt"), "metadata": metadata}


def _build_stop(call: Call) -> dict[str, Any]:
    status = _THEIR_STATUS.get(str(call.data.get("status")), "error")
    return {"status": status, "loop_count": call.blocked_stops}


def _read_stop(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Cursor does not say what the agent said last, nor how long it took."""
    return {
        "orchestrator": "cursor",
        "final_message": {},
        "turn_count": 0,
        "request_count": 0,
        "duration_ms": 0,
        "status": _read_status(payload),
    }


def _build_response(call: Call) -> dict[str, Any]:
    return {"text": str(call.data.get("response", ""))}


def _read_response(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"prompt": "", "response": get_text(payload, "text")}


def _build_thought(call: Call) -> dict[str, Any]:
    return {"text": str(call.data.get("thinking", ""))}


def _read_thought(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"block_index": 0, "thinking": get_text(payload, "text")}


# Sub-agents


def _build_subagent(call: Call) -> dict[str, Any]:
    return {"subagent_type": call.data.get("agent_name"), "task": call.data.get("task")}


def _read_subagent(payload: Mapping[str, Any]) -> dict[str, Any]:
    parent = get_text(payload, "parent_conversation_id") or get_text(payload, "conversation_id")
    return {
        "parent_session_id": parent,
        "agent_name": get_text(payload, "subagent_type"),
        "task": get_text(payload, "task"),
    }


def _read_subagent_start(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**_read_subagent(payload), "config_override": {}}


def _build_subagent_stop(call: Call) -> dict[str, Any]:
    return {**_build_subagent(call), "status": call.data.get("status")}


def _read_subagent_stop(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_read_subagent(payload),
        "result": {"output": get_text(payload, "summary")},
        "duration_ms": get_number(payload, "duration_ms") or get_number(payload, "duration"),
        "status": _read_status(payload),
    }


# The session


def _build_session_start(call: Call) -> dict[str, Any]:
    return {"is_background_agent": False, "composer_mode": "agent"}


def _read_session_start(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A conversation that goes on is not told."""
    return {"mount_plan": {}, "source": "startup"}


def _build_session_end(call: Call) -> dict[str, Any]:
    return {"reason": call.data.get("reason")}


def _read_session_end(payload: Mapping[str, Any]) -> dict[str, Any]:
    reason = _END_REASONS.get(get_text(payload, "reason"), "complete")
    return {"reason": reason, "duration_ms": get_number(payload, "duration_ms"), "stats": {}}


def _build_compaction(call: Call) -> dict[str, Any]:
    return {"trigger": call.data.get("trigger")}


def _read_compaction(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "trigger": "manual" if payload.get("trigger") == "manual" else "auto",
        "current_tokens": get_number(payload, "context_tokens"),
        "target_tokens": 0,
        "messages_count": get_number(payload, "message_count"),
    }


def _read_status(payload: Mapping[str, Any]) -> str:
    return _OUR_STATUS.get(get_text(payload, "status"), "error")


SESSION_EVENTS: dict[str, NativeEvent] = {
    "beforeSubmitPrompt": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        _build_prompt,
        read_fields=_read_prompt,
        powers=frozenset({"deny", "inject"}),
        gate=True,
    ),
    "stop": NativeEvent(
        (Occasion(events.ORCHESTRATOR_COMPLETE),),
        _build_stop,
        read_fields=_read_stop,
        powers=frozenset({"deny"}),
    ),
    "afterAgentResponse": NativeEvent(
        (Occasion(events.PROMPT_COMPLETE),),
        _build_response,
        read_fields=_read_response,
        noisy=True,
    ),
    "afterAgentThought": NativeEvent(
        (Occasion(events.THINKING_FINAL),), _build_thought, read_fields=_read_thought, noisy=True
    ),
    "subagentStart": NativeEvent(
        (Occasion(events.AGENT_SPAWN),),
        _build_subagent,
        read_fields=_read_subagent_start,
        powers=frozenset({"deny", "allow"}),
        gate=True,
    ),
    "subagentStop": NativeEvent(
        (Occasion(events.AGENT_COMPLETE),),
        _build_subagent_stop,
        read_fields=_read_subagent_stop,
        powers=frozenset({"deny"}),
    ),
    "preCompact": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        _build_compaction,
        read_fields=_read_compaction,
        powers=frozenset({"tell"}),
    ),
    "sessionStart": NativeEvent(
        (Occasion(events.SESSION_START),),
        _build_session_start,
        read_fields=_read_session_start,
        powers=frozenset({"inject"}),
    ),
    "sessionEnd": NativeEvent(
        (Occasion(events.SESSION_END),), _build_session_end, read_fields=_read_session_end
    ),
}


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
_SERVER_TOOL = "MCP:"
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
    name = incoming.data["tool_name"]
    given = incoming.data["tool_input"]
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
    return get_text(payload, "tool_name").startswith((_SERVER_TOOL, "mcp__"))


def read_server_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A call of an MCP server's tool, from an event that is only about such."""
    name = require_text(payload, "tool_name").removeprefix(_SERVER_TOOL)
    return {"tool_name": _name_server_tool(payload, name), "tool_input": _read_input(payload)}


def _read_name(payload: Mapping[str, Any]) -> str:
    name = require_text(payload, "tool_name")
    if name.startswith(_SERVER_TOOL):
        return _name_server_tool(payload, name.removeprefix(_SERVER_TOOL))
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


_SHELL = frozenset({"Bash"})
_MCP = frozenset({"mcp__*"})
_READ = frozenset({"Read"})
_DENIAL: frozenset[Power] = frozenset({"deny", "allow"})
"""It takes "ask" everywhere, but before most tools it does not ask then."""


# Any tool


def _build_tool(call: Call) -> dict[str, Any]:
    return {
        "tool_name": TOOL_NAMES.get(call.tool, call.tool),
        "tool_input": call.input,
        "tool_use_id": call.tool_call_id,
    }


def _build_tool_result(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "tool_output": _get_output(call), "duration": _get_duration(call)}


def _read_tool_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**read_tool(payload), **_read_result(payload, "tool_output")}


def _build_tool_failure(call: Call) -> dict[str, Any]:
    return {
        **_build_tool(call),
        "error_message": call.error,
        "failure_type": "error",
        "duration": _get_duration(call),
    }


def _read_tool_failure(payload: Mapping[str, Any]) -> dict[str, Any]:
    kind = get_text(payload, "failure_type") or "error"
    error = {"type": kind, "message": get_text(payload, "error_message")}
    return {**read_tool(payload), "error": error}


# The shell


def _build_command(call: Call) -> dict[str, Any]:
    return {"command": call.input.get("command", ""), "sandbox": False}


def _read_command(payload: Mapping[str, Any]) -> dict[str, Any]:
    return _make_call("Bash", {"command": require_text(payload, "command")})


def _build_command_result(call: Call) -> dict[str, Any]:
    return {**_build_command(call), "output": _get_output(call), "duration": _get_duration(call)}


def _read_command_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**_read_command(payload), **_read_result(payload, "output")}


# Tools of MCP servers


def _build_server_result(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "result_json": _get_output(call), "duration": _get_duration(call)}


def _read_server_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**read_server_tool(payload), **_read_result(payload, "result_json")}


# Files


def _build_reading(call: Call) -> dict[str, Any]:
    return {"file_path": call.input.get("file_path", ""), "content": "", "attachments": []}


def _read_reading(payload: Mapping[str, Any]) -> dict[str, Any]:
    return _make_call("Read", {"file_path": require_text(payload, "file_path")})


def _build_edit(call: Call) -> dict[str, Any]:
    return {"file_path": call.input.get("file_path", ""), "edits": _list_edits(call.input)}


def _list_edits(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    if isinstance(given.get("edits"), list):
        return list(given["edits"])
    new = given.get("new_string", given.get("content", ""))
    return [{"old_string": given.get("old_string", ""), "new_string": new}]


def _read_edit(payload: Mapping[str, Any]) -> dict[str, Any]:
    """One edit is an Edit, and several are a MultiEdit."""
    path = require_text(payload, "file_path")
    edits = payload.get("edits")
    if not isinstance(edits, list):
        raise TypeError(f"'edits' must be a list, got {type(edits).__name__}")
    single = len(edits) == 1 and isinstance(edits[0], Mapping)
    given = {**edits[0], "file_path": path} if single else {"file_path": path, "edits": edits}
    return {**_make_call("Edit" if single else "MultiEdit", given), **_hold_result("", 0)}


# Parts


def _get_output(call: Call) -> str:
    """Cursor hands results over as texts."""
    output = call.response.get("output")
    return output if isinstance(output, str) else json.dumps(output, default=str)


def _get_duration(call: Call) -> Any:
    return call.data.get("duration_ms", 0)


def _make_call(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """Under our names, and without an id: these events have none."""
    return {"tool_name": tool, "tool_input": given, "tool_call_id": ""}


def _read_result(payload: Mapping[str, Any], key: str) -> dict[str, Any]:
    """JSON in a text becomes an object again, so that its parts can be changed."""
    told = payload.get(key)
    output = parse_object(told) if isinstance(told, str) else None
    return _hold_result(told if output is None else output, get_number(payload, "duration"))


def _hold_result(output: Any, duration: int) -> dict[str, Any]:
    result = {"success": True, "output": output, "error": None}
    return {"tool_result": result, "success": True, "duration_ms": duration}


# What is noisy here tells of a call that preToolUse and postToolUse tell of, too, or happens while
# the person types.
TOOL_EVENTS: dict[str, NativeEvent] = {
    "preToolUse": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        read_tool,
        powers=frozenset({"deny", "allow", "rewrite"}),
        gate=True,
    ),
    "postToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        _build_tool_result,
        TOOL,
        _read_tool_result,
        powers=frozenset({"replace", "inject"}),
    ),
    "postToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        _build_tool_failure,
        TOOL,
        _read_tool_failure,
    ),
    "beforeShellExecution": NativeEvent(
        (Occasion(events.TOOL_PRE, tools=_SHELL),),
        _build_command,
        "command",
        _read_command,
        powers=_DENIAL,
        gate=True,
        noisy=True,
    ),
    "afterShellExecution": NativeEvent(
        (Occasion(events.TOOL_POST, tools=_SHELL),),
        _build_command_result,
        "command",
        _read_command_result,
        noisy=True,
    ),
    "beforeMCPExecution": NativeEvent(
        (Occasion(events.TOOL_PRE, tools=_MCP),),
        _build_tool,
        TOOL,
        read_server_tool,
        powers=_DENIAL,
        gate=True,
        noisy=True,
    ),
    "afterMCPExecution": NativeEvent(
        (Occasion(events.TOOL_POST, tools=_MCP),),
        _build_server_result,
        TOOL,
        _read_server_result,
        noisy=True,
    ),
    "beforeReadFile": NativeEvent(
        (Occasion(events.TOOL_PRE, tools=_READ),),
        _build_reading,
        TOOL,
        _read_reading,
        powers=_DENIAL,
        gate=True,
        noisy=True,
    ),
    "afterFileEdit": NativeEvent(
        (Occasion(events.TOOL_POST, tools=EDITING_TOOLS, success=True),),
        _build_edit,
        TOOL,
        _read_edit,
        noisy=True,
    ),
    # The inline completion is no agent: what it reads goes to a model all the same.
    "beforeTabFileRead": NativeEvent(
        (),
        _build_reading,
        None,
        _read_reading,
        powers=_DENIAL,
        gate=True,
        noisy=True,
        becomes=events.TOOL_PRE,
    ),
    "afterTabFileEdit": NativeEvent(
        (), _build_edit, None, _read_edit, noisy=True, becomes=events.TOOL_POST
    ),
}

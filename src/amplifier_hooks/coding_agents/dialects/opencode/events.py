"""OpenCode's events: what they tell, written by us and read by us, side by side."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.codex import patches
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    NativeEvent,
    Occasion,
    get_number,
    get_text,
    require_object,
    require_text,
)
from amplifier_hooks.external.incoming import Incoming

TOOL_NAMES = {
    "Bash": "bash",
    "Read": "read",
    "Write": "write",
    "Edit": "edit",
    "Glob": "glob",
    "Grep": "grep",
    "LS": "list",
    "WebFetch": "webfetch",
    "WebSearch": "websearch",
    "Todo": "todowrite",
    "Delegate": "task",
}
INPUT_KEYS = {
    "Read": {"file_path": "filePath"},
    "Write": {"file_path": "filePath"},
    "Edit": {
        "file_path": "filePath",
        "old_string": "oldString",
        "new_string": "newString",
        "replace_all": "replaceAll",
    },
    "Grep": {"glob": "include"},
    "Delegate": {"agent_name": "subagent_type", "task": "prompt"},
}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """A command where it really runs, and each file of a patch."""
    name, given = incoming.data["tool_name"], incoming.data["tool_input"]
    folder = get_text(given, "workdir")
    if name == "Bash" and folder:
        command = f"cd {shlex.quote(folder)} && {get_text(given, 'command')}"
        return ({"tool_name": "Bash", "tool_input": {"command": command}},)
    if name == "apply_patch":
        patch = {"tool_name": name, "tool_input": {"command": given.get("patchText")}}
        return patches.find_parts(replace(incoming, data=patch))
    return ()


_COMMON = frozenset({"session_id", "sessionID", "cwd", "hook_event_name", "agent_id"})


# Tools


def _build_tool(call: Call) -> dict[str, Any]:
    return {
        "tool_name": TOOL_NAMES.get(call.tool, call.tool),
        "tool_input": call.input,
        "tool_use_id": call.tool_call_id,
    }


def _read_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tool_name": require_text(payload, "tool_name"),
        "tool_input": require_object(payload, "tool_input"),
    }


def _build_result(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "tool_response": call.response.get("output")}


def _read_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that fails is not told."""
    result = {"success": True, "output": payload.get("tool_response"), "error": None}
    duration = get_number(payload, "duration_ms")
    return {
        **_read_tool(payload),
        "tool_result": result,
        "success": True,
        "duration_ms": duration,
    }


# The turn


def _build_prompt(call: Call) -> dict[str, Any]:
    return {"prompt": str(call.data.get("prompt", ""))}


def _read_prompt(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"prompt": require_text(payload, "prompt"), "metadata": {}}


def _read_command(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A command of the person's, by its name, with the words behind it."""
    arguments = get_text(payload, "arguments")
    return {"command": require_text(payload, "command"), "arguments": arguments}


def _build_nothing(call: Call) -> dict[str, Any]:
    return {}


def _read_rest(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in _COMMON}


def _read_idle(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "orchestrator": "opencode",
        "final_message": {},
        "turn_count": 0,
        "request_count": 0,
        "duration_ms": 0,
        "status": "success",
    }


def _build_error(call: Call) -> dict[str, Any]:
    return {"error": call.error}


def _read_error(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"error": {"type": "error", "message": get_text(payload, "error")}}


def _read_compacting(payload: Mapping[str, Any]) -> dict[str, Any]:
    sizes = dict.fromkeys(("current_tokens", "target_tokens", "messages_count"), 0)
    return {"trigger": "auto", **sizes}


def _read_compacted(payload: Mapping[str, Any]) -> dict[str, Any]:
    names = ("tokens_before", "tokens_after", "messages_before", "messages_after")
    return {"trigger": "auto", **dict.fromkeys(names, 0)}


# The session


def _read_start(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"mount_plan": {}, "source": "startup"}


def _read_end(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"reason": "user_exit", "duration_ms": 0, "stats": {}}


# The first five are functions that OpenCode waits for; it only mentions the others.
EVENTS: dict[str, NativeEvent] = {
    "tool.execute.before": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        _read_tool,
        powers=frozenset({"deny", "rewrite"}),
        gate=True,
    ),
    "tool.execute.after": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        _build_result,
        TOOL,
        _read_result,
        powers=frozenset({"deny", "replace", "inject"}),
        gate=True,
    ),
    "chat.message": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        _build_prompt,
        read_fields=_read_prompt,
        powers=frozenset({"deny", "rewrite", "inject"}),
        gate=True,
    ),
    "command.execute.before": NativeEvent(
        (), _build_nothing, read_fields=_read_command, powers=frozenset({"deny"}), gate=True
    ),
    "experimental.session.compacting": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        _build_nothing,
        read_fields=_read_compacting,
        powers=frozenset({"inject"}),
    ),
    "session.compacted": NativeEvent(
        (Occasion(events.CONTEXT_POST_COMPACT),), _build_nothing, read_fields=_read_compacted
    ),
    "session.created": NativeEvent(
        (Occasion(events.SESSION_START),), _build_nothing, read_fields=_read_start
    ),
    "session.idle": NativeEvent(
        (Occasion(events.ORCHESTRATOR_COMPLETE),), _build_nothing, read_fields=_read_idle
    ),
    "session.error": NativeEvent(
        (Occasion(events.ERROR_ORCHESTRATION),), _build_error, read_fields=_read_error
    ),
    "session.deleted": NativeEvent(
        (Occasion(events.SESSION_END),), _build_nothing, read_fields=_read_end
    ),
    # The program ends, and with it all that was open.
    "dispose": NativeEvent((Occasion(events.SESSION_END),), _build_nothing, read_fields=_read_end),
    "permission.asked": NativeEvent((), _build_nothing, read_fields=_read_rest),
    "permission.replied": NativeEvent((), _build_nothing, read_fields=_read_rest),
}

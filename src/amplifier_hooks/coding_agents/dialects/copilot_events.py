"""Copilot CLI's events, as they are called in camelCase."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    NativeEvent,
    Occasion,
    get_text,
    rename_keys,
    require_object,
    require_text,
)
from amplifier_hooks.coding_agents.dialects.patches import split_patch
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload

Payload = Mapping[str, Any]

REFUSAL = '{"decision": "block", "reason": "amplifier: this was not judged, so it is not allowed"}'
"""What blocks where exit code 2 does not."""

_COMMON = frozenset(
    {"sessionId", "timestamp", "cwd", "transcriptPath", "hookName", "hook_event_name"}
)


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {
        "sessionId": call.session_id,
        "timestamp": _to_milliseconds(call.data.get("timestamp")),
        "cwd": call.cwd,
    }


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "COPILOT_CLI": "1",
        "COPILOT_PROJECT_DIR": call.cwd,
        "CLAUDE_PROJECT_DIR": call.cwd,
    }


def _to_milliseconds(stamp: Any) -> int:
    try:
        return round(datetime.fromisoformat(str(stamp)).timestamp() * 1000)
    except ValueError:
        return 0


def drop_common(payload: Payload) -> dict[str, Any]:
    """The fields of an event that are its own."""
    return {key: value for key, value in payload.items() if key not in _COMMON}


def write_output(output: Any) -> str:
    """A result as the model reads it."""
    if isinstance(output, str):
        return output
    return json.dumps(output, ensure_ascii=False, default=str)


def read_error(payload: Payload) -> dict[str, Any]:
    """What went wrong, told as a text or as an object."""
    error = payload.get("error")
    told = error if isinstance(error, Mapping) else {"message": error}
    return {
        "error": {"type": get_text(told, "name") or "Error", "message": get_text(told, "message")}
    }


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
    if isinstance(given, str):
        given = _parse(given)
    elif given is None:
        given = {}
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
    name = incoming.data["tool_name"]
    given = incoming.data["tool_input"]
    if name == "apply_patch" or (name == "Edit" and "file_path" not in given):
        return split_patch(given.get("input"), incoming.cwd)
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


def _build_tool(call: Call) -> dict[str, Any]:
    arguments = build_input(call.tool, call.input)
    return {"toolName": TOOL_NAMES.get(call.tool, call.tool), "toolArgs": arguments}


def _read_tool(payload: Payload) -> dict[str, Any]:
    return read_call(require_text(payload, "toolName"), payload["toolArgs"])


def _build_permission(call: Call) -> dict[str, Any]:
    told = _build_tool(call)
    return {
        "hookName": "permissionRequest",
        "toolName": told["toolName"],
        "toolInput": told["toolArgs"],
        "permissionSuggestions": [],
    }


def _read_permission(payload: Payload) -> dict[str, Any]:
    return read_call(require_text(payload, "toolName"), payload["toolInput"])


def _build_tool_result(call: Call) -> dict[str, Any]:
    text = write_output(call.response.get("output"))
    return {
        **_build_tool(call),
        "toolResult": {"resultType": "success", "textResultForLlm": text},
    }


def _read_tool_result(payload: Payload) -> dict[str, Any]:
    result = require_object(payload, "toolResult")
    kind = get_text(result, "resultType")
    output = result.get("textResultForLlm")
    success = kind in ("", "success")
    error = None if success else {"type": kind, "message": str(output or "")}
    return {
        **_read_tool(payload),
        "tool_result": {"success": success, "output": output, "error": error},
        "success": success,
        "duration_ms": 0,
    }


def _build_tool_failure(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "error": call.error}


def _read_tool_failure(payload: Payload) -> dict[str, Any]:
    return {**_read_tool(payload), **read_error(payload)}


TOOL_EVENTS: dict[str, NativeEvent] = {
    "preToolUse": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        _read_tool,
        powers=frozenset({"deny", "rewrite", "inject", "ask", "allow"}),
        gate=True,
    ),
    "permissionRequest": NativeEvent(
        (Occasion(events.APPROVAL_REQUIRED),),
        _build_permission,
        TOOL,
        _read_permission,
        powers=frozenset({"deny", "allow"}),
        gate=True,
        becomes="guest:permission_request",
    ),
    "postToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        _build_tool_result,
        TOOL,
        _read_tool_result,
        powers=frozenset({"deny", "replace", "inject"}),
        gate=True,
        refusal=REFUSAL,
    ),
    "postToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        _build_tool_failure,
        TOOL,
        _read_tool_failure,
        powers=frozenset({"inject"}),
    ),
    # Only what a server is told beside the arguments can be changed here.
    "preMcpToolCall": NativeEvent((), lambda call: {}, None, drop_common, noisy=True),
}


_SOURCES = {"startup": "new"}
_OUR_SOURCES = {"resume": "resume"}
_OUR_ENDS = {"error": "error", "abort": "user_exit", "timeout": "timeout", "user_exit": "user_exit"}
_NOTIFICATIONS = {"approval_required": "permission_prompt", "awaiting_input": "agent_idle"}
_OUR_NOTIFICATIONS = {theirs: ours for ours, theirs in _NOTIFICATIONS.items()}


# Turns


def _build_prompt(call: Call) -> dict[str, Any]:
    return {"prompt": str(call.data.get("prompt", ""))}


def _read_prompt(payload: Payload) -> dict[str, Any]:
    return {"prompt": require_text(payload, "prompt"), "metadata": {}}


def _build_stop(call: Call) -> dict[str, Any]:
    return {
        "transcriptPath": call.transcript,
        "stopReason": "end_turn",
        "stop_hook_active": call.blocked_stops > 0,
    }


def _read_stop(payload: Payload) -> dict[str, Any]:
    """Copilot does not tell what the agent said last."""
    return {
        "orchestrator": "copilot",
        "final_message": {"role": "assistant", "content": ""},
        "turn_count": 0,
        "request_count": 0,
        "duration_ms": 0,
        "status": "success",
    }


def _build_subagent(call: Call) -> dict[str, Any]:
    return {
        "transcriptPath": call.transcript,
        "agentName": str(call.data.get("agent_name") or ""),
    }


def _read_subagent(payload: Payload) -> dict[str, Any]:
    """Copilot does not tell its task."""
    return {
        "parent_session_id": get_text(payload, "sessionId"),
        "agent_name": get_text(payload, "agentName"),
        "task": "",
        "config_override": {},
    }


def _build_subagent_stop(call: Call) -> dict[str, Any]:
    return {**_build_subagent(call), "stopReason": "end_turn", "response": call.last_message}


def _read_subagent_stop(payload: Payload) -> dict[str, Any]:
    started = _read_subagent(payload)
    del started["config_override"]
    result = {"output": get_text(payload, "response")}
    return {**started, "result": result, "duration_ms": 0, "status": "success"}


# Sessions


def _build_session_start(call: Call) -> dict[str, Any]:
    source = str(call.data.get("source"))
    return {"source": _SOURCES.get(source, source), "initialPrompt": ""}


def _read_session_start(payload: Payload) -> dict[str, Any]:
    source = _OUR_SOURCES.get(get_text(payload, "source"), "startup")
    return {"mount_plan": {}, "source": source}


def _build_session_end(call: Call) -> dict[str, Any]:
    return {"reason": call.data.get("reason")}


def _read_session_end(payload: Payload) -> dict[str, Any]:
    reason = _OUR_ENDS.get(get_text(payload, "reason"), "complete")
    stats = ("total_messages", "tool_invocations", "total_tokens", "hook_failures")
    return {"reason": reason, "duration_ms": 0, "stats": dict.fromkeys(stats, 0)}


def _build_compaction(call: Call) -> dict[str, Any]:
    return {
        "transcriptPath": call.transcript,
        "trigger": call.data.get("trigger"),
        "customInstructions": "",
    }


def _read_compaction(payload: Payload) -> dict[str, Any]:
    trigger = "manual" if payload.get("trigger") == "manual" else "auto"
    return {"trigger": trigger, "current_tokens": 0, "target_tokens": 0, "messages_count": 0}


def _build_notification(call: Call) -> dict[str, Any]:
    """A message for the person; two of its fields are not in camelCase."""
    kind = str(call.data.get("notification_type") or "")
    return {
        "message": str(call.data.get("message") or ""),
        "title": "",
        "hook_event_name": "Notification",
        "notification_type": _NOTIFICATIONS.get(kind, kind),
    }


def _read_notification(payload: Payload) -> dict[str, Any]:
    kind = get_text(payload, "notification_type")
    title = get_text(payload, "title")
    return {
        "notification_type": _OUR_NOTIFICATIONS.get(kind, "alert"),
        "message": get_text(payload, "message"),
        "metadata": {"title": title} if title else {},
    }


def _build_error(call: Call) -> dict[str, Any]:
    return {
        "error": {"name": "Error", "message": call.error},
        "errorContext": "system",
        "recoverable": False,
    }


EVENTS: dict[str, NativeEvent] = {
    **TOOL_EVENTS,
    "userPromptSubmitted": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        _build_prompt,
        None,
        _read_prompt,
        powers=frozenset({"deny", "rewrite", "inject"}),
        gate=True,
        refusal=REFUSAL,
    ),
    # The same prompt again, with what Copilot adds to it.
    "userPromptTransformed": NativeEvent((), lambda call: {}, None, drop_common, noisy=True),
    "agentStop": NativeEvent(
        (Occasion(events.ORCHESTRATOR_COMPLETE, success=True),),
        _build_stop,
        None,
        _read_stop,
        powers=frozenset({"deny"}),
    ),
    "subagentStart": NativeEvent(
        (Occasion(events.AGENT_SPAWN),),
        _build_subagent,
        None,
        _read_subagent,
        powers=frozenset({"inject"}),
    ),
    "subagentStop": NativeEvent(
        (Occasion(events.AGENT_COMPLETE),),
        _build_subagent_stop,
        None,
        _read_subagent_stop,
        powers=frozenset({"deny"}),
    ),
    "sessionStart": NativeEvent(
        (Occasion(events.SESSION_START),),
        _build_session_start,
        None,
        _read_session_start,
        powers=frozenset({"inject"}),
    ),
    "sessionEnd": NativeEvent(
        (Occasion(events.SESSION_END),), _build_session_end, None, _read_session_end
    ),
    "preCompact": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        _build_compaction,
        None,
        _read_compaction,
    ),
    "notification": NativeEvent(
        (Occasion(events.USER_NOTIFICATION),),
        _build_notification,
        "notification_type",
        _read_notification,
    ),
    "errorOccurred": NativeEvent(
        (Occasion(events.ERROR_ORCHESTRATION), Occasion(events.PROVIDER_ERROR)),
        _build_error,
        None,
        read_error,
    ),
}

"""What Copilot CLI tells at an event, in camelCase: how it is built, and how it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from amplifier_foundation.dialects.call import Call
from amplifier_foundation.dialects.copilot.tools import TOOL_NAMES, build_input, read_call
from amplifier_foundation.dialects.fields import get_text, require_object, require_text

Payload = Mapping[str, Any]

_COMMON = frozenset(
    {"sessionId", "timestamp", "cwd", "transcriptPath", "hookName", "hook_event_name"}
)
_SOURCES = {"startup": "new"}
_OUR_SOURCES = {"resume": "resume"}
_OUR_ENDS = {"error": "error", "abort": "user_exit", "timeout": "timeout", "user_exit": "user_exit"}
_NOTIFICATIONS = {"approval_required": "permission_prompt", "awaiting_input": "agent_idle"}
_OUR_NOTIFICATIONS = {theirs: ours for ours, theirs in _NOTIFICATIONS.items()}


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


def read_rest(payload: Payload) -> dict[str, Any]:
    """The fields of an event that are its own."""
    return {key: value for key, value in payload.items() if key not in _COMMON}


# Tools


def build_tool(call: Call) -> dict[str, Any]:
    """A tool call."""
    arguments = build_input(call.tool, call.input)
    return {"toolName": TOOL_NAMES.get(call.tool, call.tool), "toolArgs": arguments}


def read_tool(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    return read_call(require_text(payload, "toolName"), payload["toolArgs"])


def build_permission(call: Call) -> dict[str, Any]:
    """A tool call that somebody must allow."""
    told = build_tool(call)
    return {
        "hookName": "permissionRequest",
        "toolName": told["toolName"],
        "toolInput": told["toolArgs"],
        "permissionSuggestions": [],
    }


def read_permission(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    return read_call(require_text(payload, "toolName"), payload["toolInput"])


def build_tool_result(call: Call) -> dict[str, Any]:
    """A tool call and what came of it."""
    text = write_output(call.response.get("output"))
    return {
        **build_tool(call),
        "toolResult": {"resultType": "success", "textResultForLlm": text},
    }


def write_output(output: Any) -> str:
    """A result as the model reads it."""
    if isinstance(output, str):
        return output
    return json.dumps(output, ensure_ascii=False, default=str)


def read_tool_result(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    result = require_object(payload, "toolResult")
    kind, output = get_text(result, "resultType"), result.get("textResultForLlm")
    success = kind in ("", "success")
    error = None if success else {"type": kind, "message": str(output or "")}
    return {
        **read_tool(payload),
        "tool_result": {"success": success, "output": output, "error": error},
        "success": success,
        "duration_ms": 0,
    }


def build_tool_failure(call: Call) -> dict[str, Any]:
    """A tool call and why it failed."""
    return {**build_tool(call), "error": call.error}


def read_tool_failure(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    return {**read_tool(payload), **read_error(payload)}


def build_error(call: Call) -> dict[str, Any]:
    """What went wrong outside of a tool."""
    return {
        "error": {"name": "Error", "message": call.error},
        "errorContext": "system",
        "recoverable": False,
    }


def read_error(payload: Payload) -> dict[str, Any]:
    """What went wrong, told as a text or as an object."""
    error = payload.get("error")
    told = error if isinstance(error, Mapping) else {"message": error}
    return {
        "error": {"type": get_text(told, "name") or "Error", "message": get_text(told, "message")}
    }


# Turns


def build_prompt(call: Call) -> dict[str, Any]:
    """What the person wrote."""
    return {"prompt": str(call.data.get("prompt", ""))}


def read_prompt(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    return {"prompt": require_text(payload, "prompt"), "metadata": {}}


def build_stop(call: Call) -> dict[str, Any]:
    """The end of a turn."""
    return {
        "transcriptPath": call.transcript,
        "stopReason": "end_turn",
        "stop_hook_active": call.blocked_stops > 0,
    }


def read_stop(payload: Payload) -> dict[str, Any]:
    """The same, read; Copilot does not tell what the agent said last."""
    return {
        "orchestrator": "copilot",
        "final_message": {"role": "assistant", "content": ""},
        "turn_count": 0,
        "request_count": 0,
        "duration_ms": 0,
        "status": "success",
    }


def build_subagent(call: Call) -> dict[str, Any]:
    """A sub-agent that is about to start."""
    return {
        "transcriptPath": call.transcript,
        "agentName": str(call.data.get("agent_name") or ""),
    }


def read_subagent(payload: Payload) -> dict[str, Any]:
    """The same, read; Copilot does not tell its task."""
    return {
        "parent_session_id": get_text(payload, "sessionId"),
        "agent_name": get_text(payload, "agentName"),
        "task": "",
        "config_override": {},
    }


def build_subagent_stop(call: Call) -> dict[str, Any]:
    """A sub-agent that is done."""
    return {**build_subagent(call), "stopReason": "end_turn", "response": call.last_message}


def read_subagent_stop(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    started = read_subagent(payload)
    del started["config_override"]
    result = {"output": get_text(payload, "response")}
    return {**started, "result": result, "duration_ms": 0, "status": "success"}


# Sessions


def build_session_start(call: Call) -> dict[str, Any]:
    """The beginning of a session."""
    source = str(call.data.get("source"))
    return {"source": _SOURCES.get(source, source), "initialPrompt": ""}


def read_session_start(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    source = _OUR_SOURCES.get(get_text(payload, "source"), "startup")
    return {"mount_plan": {}, "source": source}


def build_session_end(call: Call) -> dict[str, Any]:
    """The end of a session."""
    return {"reason": call.data.get("reason")}


def read_session_end(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    reason = _OUR_ENDS.get(get_text(payload, "reason"), "complete")
    stats = ("total_messages", "tool_invocations", "total_tokens", "hook_failures")
    return {"reason": reason, "duration_ms": 0, "stats": dict.fromkeys(stats, 0)}


def build_compaction(call: Call) -> dict[str, Any]:
    """A context that is about to be compacted."""
    return {
        "transcriptPath": call.transcript,
        "trigger": call.data.get("trigger"),
        "customInstructions": "",
    }


def read_compaction(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    trigger = "manual" if payload.get("trigger") == "manual" else "auto"
    return {"trigger": trigger, "current_tokens": 0, "target_tokens": 0, "messages_count": 0}


def build_notification(call: Call) -> dict[str, Any]:
    """A message for the person; two of its fields are not in camelCase."""
    kind = str(call.data.get("notification_type") or "")
    return {
        "message": str(call.data.get("message") or ""),
        "title": "",
        "hook_event_name": "Notification",
        "notification_type": _NOTIFICATIONS.get(kind, kind),
    }


def read_notification(payload: Payload) -> dict[str, Any]:
    """The same, read."""
    kind = get_text(payload, "notification_type")
    title = get_text(payload, "title")
    return {
        "notification_type": _OUR_NOTIFICATIONS.get(kind, "alert"),
        "message": get_text(payload, "message"),
        "metadata": {"title": title} if title else {},
    }

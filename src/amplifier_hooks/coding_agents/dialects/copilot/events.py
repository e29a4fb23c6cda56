"""Copilot CLI's events, as they are called in camelCase."""

from __future__ import annotations

from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.copilot.common import (
    REFUSAL,
    Payload,
    drop_common,
    read_error,
)
from amplifier_hooks.coding_agents.dialects.copilot.tool_events import TOOL_EVENTS
from amplifier_hooks.coding_agents.dialects.dialect import NativeEvent, Occasion
from amplifier_hooks.coding_agents.dialects.fields import get_text, require_text

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

"""Cursor's other events: what they tell, written by us and read by us, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.dialect import NativeEvent, Occasion
from amplifier_hooks.coding_agents.dialects.fields import get_number, get_text, require_text

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

"""Every event of Claude Code but WorktreeCreate, whose hook would have to make the folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    NativeEvent,
    Occasion,
    get_number,
    get_text,
    require_text,
)
from amplifier_hooks.external.incoming import Incoming

TOOL_NAMES = {"Todo": "TodoWrite", "Delegate": "Agent"}
OLDER_NAMES = {"Task": "Delegate"}
INPUT_KEYS = {"Delegate": {"agent_name": "subagent_type", "task": "prompt"}}

_COMMON = frozenset(
    {
        "agent_id",
        "agent_type",
        "cwd",
        "effort",
        "hook_event_name",
        "permission_mode",
        "prompt_id",
        "session_id",
        "transcript_path",
    }
)


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    common: dict[str, Any] = {
        "session_id": call.session_id,
        "transcript_path": call.transcript,
        "cwd": call.cwd,
        "hook_event_name": call.native,
        "permission_mode": "default",
    }
    if call.agent_id is not None:
        common["agent_id"] = call.agent_id
    return common


def drop_common(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event that are its own."""
    return {key: value for key, value in payload.items() if key not in _COMMON}


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "CLAUDE_PROJECT_DIR": call.cwd,
        "CLAUDE_CODE_SESSION_ID": call.session_id,
        "CLAUDECODE": "1",
    }


# Before a tool


def _build_permission(call: Call) -> dict[str, Any]:
    """A tool and its input, by their names of them."""
    names = INPUT_KEYS.get(call.tool, {})
    given = {names.get(key, key): value for key, value in call.input.items()}
    return {"tool_name": TOOL_NAMES.get(call.tool, call.tool), "tool_input": given}


def _build_tool(call: Call) -> dict[str, Any]:
    """The same, and the id of the call."""
    return {**_build_permission(call), "tool_use_id": call.tool_call_id}


def _read_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A tool and its input."""
    return {"tool_name": payload["tool_name"], "tool_input": payload["tool_input"]}


# After a tool


def build_response(call: Call) -> dict[str, Any]:
    """A tool's result as an object: scripts look for `.success`, `.stdout` or `.filePath` in it."""
    response = call.response
    output = response.get("output")
    fields = dict(output) if isinstance(output, dict) else {"output": output}
    text = output if isinstance(output, str) else ""
    known = _build_known(call.tool, call.input, text)
    return {"success": bool(response.get("success", True)), **known, **fields}


def _build_known(tool: str, given: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The fields that the result of the same tool has there."""
    path = given.get("file_path")
    known: dict[str, Any] = {"filePath": path} if isinstance(path, str) else {}
    if tool == "Bash":
        flags = {"interrupted": False, "isImage": False, "noOutputExpected": False}
        return {"stdout": text, "stderr": "", **flags}
    if tool == "Read":
        lines = text.count("\n") + 1
        counts = {"numLines": lines, "startLine": 1, "totalLines": lines}
        return {**known, "type": "text", "file": {**known, "content": text, **counts}}
    changed: dict[str, Any] = {"structuredPatch": [], "originalFile": None, "userModified": False}
    if tool == "Write":
        return {**known, "type": "create", "content": given.get("content"), **changed}
    if tool == "Edit":
        strings = {"oldString": given.get("old_string"), "newString": given.get("new_string")}
        return {**known, **strings, **changed, "replaceAll": bool(given.get("replace_all"))}
    return known


def _build_tool_result(call: Call) -> dict[str, Any]:
    """The call and what came of it."""
    duration = call.data.get("duration_ms", 0)
    return {**_build_tool(call), "tool_response": build_response(call), "duration_ms": duration}


def _read_tool_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool gave stays as it is, so that a part of it can be changed."""
    result = {"success": True, "output": payload["tool_response"], "error": None}
    duration = get_number(payload, "duration_ms")
    return {
        **_read_tool(payload),
        "tool_result": result,
        "success": True,
        "duration_ms": duration,
    }


def _build_tool_failure(call: Call) -> dict[str, Any]:
    """The call and why it failed."""
    failure = {"error": call.error, "is_interrupt": False}
    return {**_build_tool(call), **failure, "duration_ms": call.data.get("duration_ms", 0)}


def _read_tool_failure(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same as an error of ours."""
    kind = "Interrupted" if payload.get("is_interrupt") is True else "ToolError"
    error = {"type": kind, "message": get_text(payload, "error")}
    return {**_read_tool(payload), "error": error}


# Permissions


def _build_permission_denied(call: Call) -> dict[str, Any]:
    """The call that was not allowed, and why."""
    return {**_build_tool(call), "reason": str(call.data.get("how") or "denied")}


def _read_permission_denied(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same for whoever listens to guests."""
    return {**_read_tool(payload), "reason": get_text(payload, "reason")}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """What tools that we do not have do with a shell or a file, as calls of ours."""
    name = incoming.data["tool_name"]
    given = incoming.data["tool_input"]
    path = given.get("notebook_path")
    command = given.get("command")
    if isinstance(path, str):
        text = get_text(given, "new_source")
        edit = {"file_path": path, "old_string": "", "new_string": text}
        return ({"tool_name": "Edit", "tool_input": edit},)
    if isinstance(command, str) and name != "Bash" and not name.startswith("mcp__"):
        return ({"tool_name": "Bash", "tool_input": {"command": command}},)
    return ()


_NOT_JUDGED = "amplifier: this was not judged, so it is not allowed"
_REFUSAL = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": _NOT_JUDGED},
        }
    }
)

TOOL_EVENTS: dict[str, NativeEvent] = {
    "PreToolUse": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        _read_tool,
        powers=frozenset({"deny", "rewrite", "inject", "ask", "allow", "stop", "tell"}),
        gate=True,
    ),
    "PermissionRequest": NativeEvent(
        (Occasion(events.APPROVAL_REQUIRED),),
        _build_permission,
        TOOL,
        _read_tool,
        powers=frozenset({"deny", "allow", "rewrite", "stop"}),
        gate=True,
        refusal=_REFUSAL,  # exit code 2 is no opinion here
        becomes="guest:permission_request",
    ),
    "PermissionDenied": NativeEvent(
        (Occasion(events.APPROVAL_DENIED),),
        _build_permission_denied,
        TOOL,
        _read_permission_denied,
        becomes="guest:permission_denied",
    ),
    "PostToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        _build_tool_result,
        TOOL,
        _read_tool_result,
        powers=frozenset({"replace", "inject", "stop", "tell"}),
    ),
    "PostToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        _build_tool_failure,
        TOOL,
        _read_tool_failure,
        powers=frozenset({"inject", "tell"}),
    ),
    # Once more what PostToolUse has told already.
    "PostToolBatch": NativeEvent(
        (),
        lambda call: {},
        None,
        drop_common,
        powers=frozenset({"inject", "stop", "tell"}),
        noisy=True,
        since="2.1.118",
    ),
}


_END_REASONS = {"user_exit": "prompt_input_exit"}
_END_REASONS_OF_OURS = {"prompt_input_exit": "user_exit", "logout": "user_exit"}
_SOURCES = {"startup": "startup", "resume": "resume", "fork": "resume", "compact": "compact"}
_NOTIFICATIONS = {"approval_required": "permission_prompt", "awaiting_input": "idle_prompt"}
_NOTIFICATIONS_OF_OURS = {theirs: ours for ours, theirs in _NOTIFICATIONS.items()}
_NO_STATS = {"total_messages": 0, "tool_invocations": 0, "total_tokens": 0, "hook_failures": 0}


# Sessions


def _build_session_start(call: Call) -> dict[str, Any]:
    """Why it starts."""
    return {"source": call.data.get("source", "startup")}


def _read_session_start(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same in our words; how they put it is kept."""
    own = drop_common(payload)
    source = _SOURCES.get(get_text(payload, "source"), "startup")
    return {"mount_plan": {}, "source": source, "metadata": own}


def _build_session_end(call: Call) -> dict[str, Any]:
    """Why it ends."""
    return {"reason": _END_REASONS.get(str(call.data.get("reason")), "other")}


def _read_session_end(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same; whoever keeps the session knows the figures."""
    reason = _END_REASONS_OF_OURS.get(get_text(payload, "reason"), "complete")
    return {"reason": reason, "duration_ms": 0, "stats": dict(_NO_STATS)}


# Prompts and turns


def _build_prompt(call: Call) -> dict[str, Any]:
    """What the person wrote."""
    return {"prompt": str(call.data.get("prompt", ""))}


def _read_prompt(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same."""
    return {"prompt": require_text(payload, "prompt"), "metadata": {}}


def _build_stop(call: Call) -> dict[str, Any]:
    """What the agent said last."""
    return {
        "stop_hook_active": call.blocked_stops > 0,
        "last_assistant_message": call.last_message,
        "background_tasks": [],
        "session_crons": [],
    }


def _read_stop(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The end of a turn."""
    said = get_text(payload, "last_assistant_message")
    return {
        "orchestrator": "claude",
        "final_message": {"role": "assistant", "content": said},
        "turn_count": 0,
        "request_count": 0,
        "duration_ms": 0,
        "status": "success",
    }


def _build_stop_failure(call: Call) -> dict[str, Any]:
    """Why the turn failed."""
    return {"error": call.error}


def _read_stop_failure(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same as an error of ours."""
    message = get_text(payload, "error_details") or get_text(payload, "error")
    return {"error": {"type": get_text(payload, "error") or "StopFailure", "message": message}}


# Sub-agents


def _build_subagent(call: Call) -> dict[str, Any]:
    """Which one."""
    agent = str(call.data.get("agent_name") or "")
    child = call.data.get("child_session_id") or call.agent_id or agent
    return {"agent_id": str(child), "agent_type": agent}


def _read_subagent(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Which one; its task is not told."""
    return {
        "parent_session_id": get_text(payload, "session_id"),
        "agent_name": get_text(payload, "agent_type"),
        "task": "",
        "config_override": {},
    }


def _build_subagent_stop(call: Call) -> dict[str, Any]:
    """Which one, and what it said last."""
    return {**_build_stop(call), **_build_subagent(call), "agent_transcript_path": ""}


def _read_subagent_stop(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same."""
    return {
        "parent_session_id": get_text(payload, "session_id"),
        "agent_name": get_text(payload, "agent_type"),
        "task": "",
        "result": {"output": get_text(payload, "last_assistant_message")},
        "duration_ms": 0,
        "status": "success",
    }


# Compaction and notices


def _build_pre_compact(call: Call) -> dict[str, Any]:
    """Who asked for it."""
    return {"trigger": call.data.get("trigger"), "custom_instructions": ""}


def _read_pre_compact(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same."""
    counts = {"current_tokens": 0, "target_tokens": 0, "messages_count": 0}
    return {"trigger": _read_trigger(payload), **counts}


def _build_post_compact(call: Call) -> dict[str, Any]:
    """Who asked for it."""
    return {"trigger": call.data.get("trigger"), "compact_summary": ""}


def _read_post_compact(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same."""
    counts = ("tokens_before", "tokens_after", "messages_before", "messages_after")
    return {"trigger": _read_trigger(payload), **dict.fromkeys(counts, 0)}


def _read_trigger(payload: Mapping[str, Any]) -> str:
    return "manual" if payload.get("trigger") == "manual" else "auto"


def _build_notification(call: Call) -> dict[str, Any]:
    """What the person should look at."""
    kind = str(call.data.get("notification_type") or "")
    message = str(call.data.get("message") or "")
    return {"message": message, "notification_type": _NOTIFICATIONS.get(kind, kind)}


def _read_notification(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same; how they put it is kept."""
    own = drop_common(payload)
    kind = _NOTIFICATIONS_OF_OURS.get(get_text(payload, "notification_type"), "alert")
    message = get_text(payload, "message")
    own.pop("message", None)
    return {"notification_type": kind, "message": message, "metadata": own}


def _define_foreign(*, gate: bool = False, noisy: bool = False, **more: Any) -> NativeEvent:
    """An event that we do not have."""
    return NativeEvent((), lambda call: {}, None, drop_common, gate=gate, noisy=noisy, **more)


def _define_own(
    event: str,
    build: Callable[[Call], dict[str, Any]],
    read: Callable[[Mapping[str, Any]], dict[str, Any]],
    **more: Any,
) -> NativeEvent:
    """An event that we have, too."""
    success = True if event == events.ORCHESTRATOR_COMPLETE else None
    return NativeEvent((Occasion(event, success=success),), build, read_fields=read, **more)


EVENTS: dict[str, NativeEvent] = {
    **TOOL_EVENTS,
    "UserPromptSubmit": _define_own(
        events.PROMPT_SUBMIT,
        _build_prompt,
        _read_prompt,
        powers=frozenset({"deny", "inject", "tell"}),
        gate=True,
    ),
    # A command of the person, before it is a prompt; the prompt comes as well.
    "UserPromptExpansion": _define_foreign(
        gate=True, powers=frozenset({"deny", "inject", "tell"}), since="2.1.116"
    ),
    "SessionStart": _define_own(
        events.SESSION_START,
        _build_session_start,
        _read_session_start,
        matched="source",
        powers=frozenset({"inject", "tell"}),
    ),
    "Setup": _define_foreign(),
    "SessionEnd": _define_own(
        events.SESSION_END, _build_session_end, _read_session_end, matched="reason"
    ),
    "Stop": _define_own(
        events.ORCHESTRATOR_COMPLETE,
        _build_stop,
        _read_stop,
        # A text would make it go on, too; here and in all other agents, that is what a denial does.
        powers=frozenset({"deny", "stop", "tell"}),
    ),
    "StopFailure": _define_own(events.ERROR_ORCHESTRATION, _build_stop_failure, _read_stop_failure),
    "SubagentStart": _define_own(
        events.AGENT_SPAWN,
        _build_subagent,
        _read_subagent,
        matched="agent_type",
        powers=frozenset({"inject"}),
    ),
    "SubagentStop": _define_own(
        events.AGENT_COMPLETE,
        _build_subagent_stop,
        _read_subagent_stop,
        matched="agent_type",
        powers=frozenset({"deny", "tell"}),
    ),
    "PreCompact": _define_own(
        events.CONTEXT_PRE_COMPACT,
        _build_pre_compact,
        _read_pre_compact,
        matched="trigger",
        powers=frozenset({"deny"}),
    ),
    "PostCompact": _define_own(
        events.CONTEXT_POST_COMPACT, _build_post_compact, _read_post_compact, matched="trigger"
    ),
    "Notification": _define_own(
        events.USER_NOTIFICATION,
        _build_notification,
        _read_notification,
        matched="notification_type",
    ),
    "PreModelSwitch": _define_foreign(powers=frozenset({"deny"}), since="2.1.251"),
    "PostModelSwitch": _define_foreign(since="2.1.251"),
    "TeammateIdle": _define_foreign(powers=frozenset({"deny"})),
    "TaskCreated": _define_foreign(powers=frozenset({"deny"})),
    "TaskCompleted": _define_foreign(powers=frozenset({"deny"})),
    "Elicitation": _define_foreign(powers=frozenset({"deny"})),
    "ElicitationResult": _define_foreign(powers=frozenset({"deny"})),
    "ConfigChange": _define_foreign(powers=frozenset({"deny"})),
    "InstructionsLoaded": _define_foreign(),
    "WorktreeRemove": _define_foreign(),
    "CwdChanged": _define_foreign(),
    "FileChanged": _define_foreign(),
    "DirectoryAdded": _define_foreign(since="2.1.219"),
    "MessageDisplay": _define_foreign(noisy=True, since="2.1.152"),
}

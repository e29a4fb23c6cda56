"""Claude Code: settings.json, event → matcher → handlers, all in parallel, open on failure."""

from __future__ import annotations

from typing import Any, Literal

from amplifier_core import events
from amplifier_foundation.hooks.shell.dialects.dialect import (
    Answer,
    Build,
    CommonAnswer,
    Dialect,
    Occasion,
    by_exit_code,
    extra_fields,
    names_of_tool,
    read_json,
    unreadable,
    valid,
)
from amplifier_foundation.hooks.shell.handler import Call, Handler, Reply
from amplifier_foundation.hooks.shell.matcher import matches_listed
from amplifier_foundation.hooks.shell.verdict import NOTHING, UNCHANGED, Verdict, failed

EVENTS: dict[str, tuple[Occasion, ...]] = {
    "PreToolUse": (Occasion(events.TOOL_PRE),),
    "PostToolUse": (Occasion(events.TOOL_POST, success=True),),
    "PostToolUseFailure": (
        Occasion(events.TOOL_ERROR),
        Occasion(events.TOOL_POST, success=False),
    ),
    "PermissionRequest": (Occasion(events.APPROVAL_REQUIRED),),
    "PermissionDenied": (Occasion(events.APPROVAL_DENIED),),
    "UserPromptSubmit": (Occasion(events.PROMPT_SUBMIT),),
    "SessionStart": (Occasion(events.SESSION_START),),
    "SessionEnd": (Occasion(events.SESSION_END),),
    "Stop": (Occasion(events.ORCHESTRATOR_COMPLETE, success=True),),
    "StopFailure": (Occasion(events.ERROR_ORCHESTRATION),),
    "SubagentStart": (Occasion(events.AGENT_SPAWN),),
    "SubagentStop": (Occasion(events.AGENT_COMPLETE),),
    "PreCompact": (Occasion(events.CONTEXT_PRE_COMPACT),),
    "PostCompact": (Occasion(events.CONTEXT_POST_COMPACT),),
    "Notification": (Occasion(events.USER_NOTIFICATION),),
}

TOOL_NAMES = {"Todo": "TodoWrite", "Delegate": "Task"}
_PLAIN_IS_CONTEXT = frozenset({"UserPromptSubmit", "SessionStart", "UserPromptExpansion"})
_END_REASONS = {"user_exit": "prompt_input_exit"}
_NOTIFICATIONS = {"approval_required": "permission_prompt", "awaiting_input": "idle_prompt"}


class Specific(Answer):
    """`hookSpecificOutput`, the fields that mean something here."""

    hookEventName: str | None = None  # noqa: N815 - the name on the wire
    permissionDecision: Literal["allow", "deny", "ask", "defer"] | None = None  # noqa: N815
    permissionDecisionReason: str | None = None  # noqa: N815
    updatedInput: dict[str, Any] | None = None  # noqa: N815
    additionalContext: str | None = None  # noqa: N815
    updatedToolOutput: Any = UNCHANGED  # noqa: N815
    updatedMCPToolOutput: Any = UNCHANGED  # noqa: N815
    initialUserMessage: str | None = None  # noqa: N815
    sessionTitle: str | None = None  # noqa: N815
    decision: dict[str, Any] | None = None


class Output(CommonAnswer):
    """The whole object on stdout."""

    decision: Literal["block", "approve"] | None = None
    hookSpecificOutput: Specific | None = None  # noqa: N815


def default_timeout(native: str) -> float:
    """Seconds, as documented."""
    return {"UserPromptSubmit": 30.0, "SessionEnd": 1.5}.get(native, 600.0)


def environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "CLAUDE_PROJECT_DIR": call.cwd,
        "CLAUDE_CODE_SESSION_ID": call.session_id,
        "CLAUDECODE": "1",
    }


def matched(call: Call) -> tuple[str, ...]:
    """The value that a matcher is held against; none means that every matcher fits."""
    if call.tool:
        return names_of_tool(call, TOOL_NAMES)
    key = {
        "SessionStart": "source",
        "SessionEnd": "reason",
        "Notification": "notification_type",
        "PreCompact": "trigger",
        "PostCompact": "trigger",
        "SubagentStart": "agent_type",
        "SubagentStop": "agent_type",
    }.get(call.native)
    return () if key is None else (str(payload(call).get(key, "")),)


def tool_name(call: Call) -> str:
    """Claude's name of the tool."""
    return TOOL_NAMES.get(call.tool, call.tool)


def payload(call: Call) -> dict[str, Any]:
    """The object on stdin."""
    common: dict[str, Any] = {
        "session_id": call.session_id,
        "transcript_path": call.transcript,
        "cwd": call.cwd,
        "hook_event_name": call.native,
        "permission_mode": "default",
    }
    if call.agent_id is not None:
        common["agent_id"] = call.agent_id
    return {**common, **_extra(call)}


def _extra(call: Call) -> dict[str, Any]:
    builders: dict[str, Build] = {
        "PreToolUse": _tool,
        "PostToolUse": _tool_result,
        "PostToolUseFailure": _tool_failure,
        "PermissionRequest": _permission,
        "PermissionDenied": _permission_denied,
        "UserPromptSubmit": lambda c: {"prompt": str(c.data.get("prompt", ""))},
        "SessionStart": lambda c: {"source": c.data.get("source", "startup")},
        "SessionEnd": _session_end,
        "Stop": _stop,
        "StopFailure": lambda c: {"error": c.error},
        "SubagentStart": _subagent,
        "SubagentStop": _subagent_stop,
        "PreCompact": lambda c: {"trigger": c.data.get("trigger"), "custom_instructions": ""},
        "PostCompact": lambda c: {"trigger": c.data.get("trigger"), "compact_summary": ""},
        "Notification": _notification,
    }
    return extra_fields(builders, call)


def _tool(call: Call) -> dict[str, Any]:
    return {
        "tool_name": tool_name(call),
        "tool_input": call.input,
        "tool_use_id": str(call.data.get("tool_call_id") or ""),
    }


def _tool_result(call: Call) -> dict[str, Any]:
    duration = call.data.get("duration_ms", 0)
    return {**_tool(call), "tool_response": tool_response(call), "duration_ms": duration}


def tool_response(call: Call) -> dict[str, Any]:
    """An object in any case: scripts look for `.success`, `.stdout` or `.filePath` in it."""
    response = call.response
    output = response.get("output")
    fields = dict(output) if isinstance(output, dict) else {"output": output}
    path = call.input.get("file_path")
    known = {"filePath": path} if isinstance(path, str) else {}
    return {"success": bool(response.get("success", True)), **known, **fields}


def _tool_failure(call: Call) -> dict[str, Any]:
    duration = call.data.get("duration_ms", 0)
    return {**_tool(call), "error": call.error, "is_interrupt": False, "duration_ms": duration}


def _permission(call: Call) -> dict[str, Any]:
    return {"tool_name": tool_name(call), "tool_input": call.input}


def _permission_denied(call: Call) -> dict[str, Any]:
    return {**_tool(call), "reason": str(call.data.get("how") or "denied")}


def _session_end(call: Call) -> dict[str, Any]:
    return {"reason": _END_REASONS.get(str(call.data.get("reason")), "other")}


def last_message(call: Call) -> str:
    """The text of the agent's last word."""
    message = call.data.get("final_message") or call.data.get("result") or {}
    content = message.get("content", message.get("output")) if isinstance(message, dict) else ""
    if isinstance(content, list):
        content = "".join(str(b.get("text", "")) for b in content if isinstance(b, dict))
    return str(content or "")


def _stop(call: Call) -> dict[str, Any]:
    return {
        "stop_hook_active": call.blocked_stops > 0,
        "last_assistant_message": last_message(call),
        "background_tasks": [],
        "session_crons": [],
    }


def _subagent(call: Call) -> dict[str, Any]:
    agent = str(call.data.get("agent_name") or "")
    child = call.data.get("child_session_id") or call.agent_id or agent
    return {"agent_id": str(child), "agent_type": agent}


def _subagent_stop(call: Call) -> dict[str, Any]:
    return {**_stop(call), **_subagent(call), "agent_transcript_path": ""}


def _notification(call: Call) -> dict[str, Any]:
    kind = str(call.data.get("notification_type") or "")
    return {
        "message": str(call.data.get("message") or ""),
        "notification_type": _NOTIFICATIONS.get(kind, kind),
    }


def answer(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """Exit code first, then the JSON on stdout, then plain text."""
    ended = by_exit_code(handler, reply)
    if ended is not None:
        return ended
    printed = read_json(reply.stdout)
    if printed is None:
        return _plain(handler, call, reply.stdout.strip())
    return _from_json(handler, call, printed)


def _plain(handler: Handler, call: Call, text: str) -> Verdict:
    if text and call.native in _PLAIN_IS_CONTEXT:
        return Verdict(context=(text,))
    return unreadable(handler, text)


def _from_json(handler: Handler, call: Call, printed: dict[str, Any]) -> Verdict:
    if printed.get("async") is True:
        return NOTHING
    output = valid(Output, handler, printed)
    if isinstance(output, Verdict):
        return output
    specific = output.hookSpecificOutput or Specific()
    if specific.hookEventName not in (None, call.native):
        sentence = (
            f"Hook {handler.label!r} answered for {specific.hookEventName!r}, "
            f"but was asked about {call.native!r}"
        )
        return failed(sentence, fail_closed=handler.fail_closed)
    return _verdict(output, specific)


def _verdict(output: Output, specific: Specific) -> Verdict:
    decision, reason, rewritten = _decided(output, specific)
    context = (specific.additionalContext, specific.initialUserMessage)
    written = specific.updatedToolOutput
    return Verdict(
        decision=decision,
        reason=reason,
        tool_input=rewritten,
        output=specific.updatedMCPToolOutput if written is UNCHANGED else written,
        context=tuple(text for text in context if text),
        notes=output.notes,
        stop=output.stop,
        quiet=output.suppressOutput,
        title=specific.sessionTitle,
    )


def _decided(output: Output, specific: Specific) -> tuple[Any, str | None, dict[str, Any] | None]:
    if specific.permissionDecision is not None:
        reason = specific.permissionDecisionReason or output.reason
        return specific.permissionDecision, reason, specific.updatedInput
    if specific.decision is not None:
        chosen = specific.decision
        verdict = {"allow": "allow", "deny": "deny"}.get(str(chosen.get("behavior")))
        changed = chosen.get("updatedInput")
        return verdict, chosen.get("message"), changed if isinstance(changed, dict) else None
    named = {"block": "deny", "approve": "allow", None: None}[output.decision]
    return named, output.reason, specific.updatedInput


DIALECT = Dialect(
    name="claude",
    events=EVENTS,
    payload=payload,
    answer=answer,
    matches=matches_listed,
    matched=matched,
    environment=environment,
    timeout=default_timeout,
    tool_names=TOOL_NAMES,
)

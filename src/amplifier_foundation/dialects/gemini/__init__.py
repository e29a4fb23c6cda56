"""Gemini CLI: its own names of events and tools, milliseconds, groups in parallel or in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from amplifier_core import events
from amplifier_foundation.dialects.answer import Answer, CommonAnswer, read_answer
from amplifier_foundation.dialects.call import Call, read_text
from amplifier_foundation.dialects.claude import build_response
from amplifier_foundation.dialects.dialect import TOOL, Dialect, NativeEvent, Occasion
from amplifier_foundation.dialects.handler import Handler
from amplifier_foundation.dialects.matcher import matches_regex
from amplifier_foundation.dialects.reply import Reply
from amplifier_foundation.dialects.verdict import UNCHANGED, Decision, Verdict

TOOL_NAMES = {
    "Bash": "run_shell_command",
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "replace",
    "Glob": "glob",
    "Grep": "search_file_content",
    "Todo": "write_todos",
}
_ROLES = {"assistant": "model"}
_OUR_ROLES = {theirs: ours for ours, theirs in _ROLES.items()}
_NOTIFICATIONS = {"approval_required": "ToolPermission"}
_DECISIONS: dict[str | None, Decision] = {
    "allow": "allow",
    "approve": "allow",
    "deny": "deny",
    "block": "deny",
    "ask": "ask",
}


# What hooks are told


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {
        "session_id": call.session_id,
        "transcript_path": call.transcript,
        "cwd": call.cwd,
        "hook_event_name": call.native,
        "timestamp": str(call.data.get("timestamp") or ""),
    }


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "GEMINI_PROJECT_DIR": call.cwd,
        "GEMINI_SESSION_ID": call.session_id,
        "GEMINI_CWD": call.cwd,
        "CLAUDE_PROJECT_DIR": call.cwd,
    }


def _build_tool(call: Call) -> dict[str, Any]:
    return {"tool_name": TOOL_NAMES.get(call.tool, call.tool), "tool_input": call.input}


def _build_tool_result(call: Call) -> dict[str, Any]:
    output = call.response.get("output")
    content = output if isinstance(output, str) else build_response(call)
    failure = {"error": call.error} if call.error else {}
    response = {"llmContent": content, "returnDisplay": content, **failure}
    return {**_build_tool(call), "tool_response": response}


def _build_prompt(call: Call) -> dict[str, Any]:
    return {"prompt": str(call.data.get("prompt", ""))}


def _build_agent_end(call: Call) -> dict[str, Any]:
    return {
        **_build_prompt(call),
        "prompt_response": call.last_message,
        "stop_hook_active": call.blocked_stops > 0,
    }


def _build_request(call: Call) -> dict[str, Any]:
    messages = [
        {**message, "role": _ROLES.get(str(message.get("role")), message.get("role"))}
        for message in call.data.get("messages") or []
        if isinstance(message, dict)
    ]
    return {"llm_request": {"model": call.data.get("model"), "messages": messages}}


def _build_response_of_model(call: Call) -> dict[str, Any]:
    text = read_text(call.data.get("response"))
    candidate = {"content": {"role": "model", "parts": [text]}}
    return {**_build_request(call), "llm_response": {"text": text, "candidates": [candidate]}}


def _build_notification(call: Call) -> dict[str, Any]:
    kind = str(call.data.get("notification_type") or "")
    return {
        "notification_type": _NOTIFICATIONS.get(kind, kind),
        "message": str(call.data.get("message") or ""),
        "details": call.data.get("metadata") or {},
    }


EVENTS: dict[str, NativeEvent] = {
    "BeforeTool": NativeEvent((Occasion(events.TOOL_PRE),), _build_tool, TOOL),
    "AfterTool": NativeEvent(
        (Occasion(events.TOOL_POST), Occasion(events.TOOL_ERROR)), _build_tool_result, TOOL
    ),
    "BeforeAgent": NativeEvent((Occasion(events.PROMPT_SUBMIT),), _build_prompt),
    "AfterAgent": NativeEvent((Occasion(events.ORCHESTRATOR_COMPLETE),), _build_agent_end),
    "BeforeModel": NativeEvent((Occasion(events.PROVIDER_REQUEST),), _build_request),
    "AfterModel": NativeEvent((Occasion(events.PROVIDER_RESPONSE),), _build_response_of_model),
    "SessionStart": NativeEvent(
        (Occasion(events.SESSION_START),),
        lambda call: {"source": call.data.get("source", "startup")},
        "source",
    ),
    "SessionEnd": NativeEvent(
        (Occasion(events.SESSION_END),), lambda call: {"reason": "exit"}, "reason"
    ),
    "Notification": NativeEvent(
        (Occasion(events.USER_NOTIFICATION),), _build_notification, "notification_type"
    ),
    "PreCompress": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        lambda call: {"trigger": call.data.get("trigger")},
        "trigger",
    ),
}


# What hooks answer


class Specific(Answer):
    """`hookSpecificOutput`."""

    additionalContext: str | None = None  # noqa: N815 - the name on the wire
    tool_input: dict[str, Any] | None = None
    tool_output: Any = UNCHANGED
    llm_request: dict[str, Any] | None = None


class Output(CommonAnswer):
    """The object on stdout."""

    decision: Literal["allow", "approve", "deny", "block", "ask"] | None = None
    hookSpecificOutput: Specific | None = None  # noqa: N815


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """JSON at exit 0, a block at 2, a warning otherwise."""
    output = read_answer(Output, handler, reply)
    if isinstance(output, Verdict):
        return replace(output, withhold=reply.code == 2)
    return _build_verdict(output, call)


def _build_verdict(output: Output, call: Call) -> Verdict:
    specific = output.hookSpecificOutput or Specific()
    tool_input = None
    if specific.tool_input is not None:
        tool_input = {**call.input, **specific.tool_input}
    return Verdict(
        decision=_DECISIONS.get(output.decision),
        reason=output.reason,
        withhold=True,
        tool_input=tool_input,
        output=specific.tool_output,
        messages=_read_messages(specific.llm_request),
        context=(specific.additionalContext,) if specific.additionalContext else (),
        notes=output.notes,
        stop=output.stop,
        quiet=output.suppressOutput,
    )


def _read_messages(request: dict[str, Any] | None) -> list[Any] | None:
    messages = (request or {}).get("messages")
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return None
    return [
        {**one, "role": _OUR_ROLES.get(str(one.get("role")), one.get("role"))} for one in messages
    ]


DIALECT = Dialect(
    name="gemini",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    matches=matches_regex,
    timeout=60.0,
    unit=0.001,
    passes_input_on=True,
    tool_names=TOOL_NAMES,
)

"""Gemini CLI: its own names of events and tools, milliseconds, groups in parallel or in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from amplifier_core import events
from amplifier_foundation.hooks.shell.dialects import claude
from amplifier_foundation.hooks.shell.dialects.dialect import (
    Answer,
    Build,
    CommonAnswer,
    Dialect,
    Occasion,
    extra_fields,
    names_of_tool,
    read_answer,
)
from amplifier_foundation.hooks.shell.handler import Call, Handler, Reply
from amplifier_foundation.hooks.shell.matcher import matches_regex
from amplifier_foundation.hooks.shell.verdict import UNCHANGED, Verdict

EVENTS: dict[str, tuple[Occasion, ...]] = {
    "BeforeTool": (Occasion(events.TOOL_PRE),),
    "AfterTool": (Occasion(events.TOOL_POST), Occasion(events.TOOL_ERROR)),
    "BeforeAgent": (Occasion(events.PROMPT_SUBMIT),),
    "AfterAgent": (Occasion(events.ORCHESTRATOR_COMPLETE),),
    "BeforeModel": (Occasion(events.PROVIDER_REQUEST),),
    "AfterModel": (Occasion(events.PROVIDER_RESPONSE),),
    "SessionStart": (Occasion(events.SESSION_START),),
    "SessionEnd": (Occasion(events.SESSION_END),),
    "Notification": (Occasion(events.USER_NOTIFICATION),),
    "PreCompress": (Occasion(events.CONTEXT_PRE_COMPACT),),
}

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
_OUR_ROLES = {"model": "assistant"}


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


def payload(call: Call) -> dict[str, Any]:
    """The object on stdin."""
    return {
        "session_id": call.session_id,
        "transcript_path": call.transcript,
        "cwd": call.cwd,
        "hook_event_name": call.native,
        "timestamp": str(call.data.get("timestamp") or ""),
        **_extra(call),
    }


def _extra(call: Call) -> dict[str, Any]:
    builders: dict[str, Build] = {
        "BeforeTool": _tool,
        "AfterTool": lambda c: {**_tool(c), "tool_response": _response(c)},
        "BeforeAgent": lambda c: {"prompt": str(c.data.get("prompt", ""))},
        "AfterAgent": _after_agent,
        "BeforeModel": lambda c: {"llm_request": _request(c)},
        "AfterModel": lambda c: {"llm_request": _request(c), "llm_response": _reply(c)},
        "SessionStart": lambda c: {"source": c.data.get("source", "startup")},
        "SessionEnd": lambda c: {"reason": "exit"},
        "Notification": _notification,
        "PreCompress": lambda c: {"trigger": c.data.get("trigger")},
    }
    return extra_fields(builders, call)


def _tool(call: Call) -> dict[str, Any]:
    return {"tool_name": TOOL_NAMES.get(call.tool, call.tool), "tool_input": call.input}


def _response(call: Call) -> dict[str, Any]:
    output = call.response.get("output")
    text = output if isinstance(output, str) else claude.tool_response(call)
    failure = {"error": call.error} if call.error else {}
    return {"llmContent": text, "returnDisplay": text, **failure}


def _after_agent(call: Call) -> dict[str, Any]:
    return {
        "prompt": str(call.data.get("prompt", "")),
        "prompt_response": claude.last_message(call),
        "stop_hook_active": call.blocked_stops > 0,
    }


def _request(call: Call) -> dict[str, Any]:
    messages = [
        {**message, "role": _ROLES.get(str(message.get("role")), message.get("role"))}
        for message in call.data.get("messages") or []
        if isinstance(message, dict)
    ]
    return {"model": call.data.get("model"), "messages": messages}


def _reply(call: Call) -> dict[str, Any]:
    response = call.data.get("response") or {}
    text = claude.last_message(Call("", "", {"final_message": response}, "", ""))
    return {"text": text, "candidates": [{"content": {"role": "model", "parts": [text]}}]}


def _notification(call: Call) -> dict[str, Any]:
    known = {"approval_required": "ToolPermission"}
    kind = str(call.data.get("notification_type") or "")
    return {
        "notification_type": known.get(kind, kind),
        "message": str(call.data.get("message") or ""),
        "details": call.data.get("metadata") or {},
    }


def answer(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """JSON at exit 0, a block at 2, a warning otherwise."""
    output = read_answer(Output, handler, reply)
    if isinstance(output, Verdict):
        return replace(output, withhold=reply.code == 2)
    return _verdict(output, call)


def _verdict(output: Output, call: Call) -> Verdict:
    specific = output.hookSpecificOutput or Specific()
    merged = None
    if specific.tool_input is not None:
        merged = {**call.input, **specific.tool_input}
    decision: Any = {"approve": "allow", "block": "deny"}.get(
        output.decision or "", output.decision
    )
    return Verdict(
        decision=decision,
        reason=output.reason,
        withhold=True,
        tool_input=merged,
        output=specific.tool_output,
        messages=_messages(specific.llm_request),
        context=(specific.additionalContext,) if specific.additionalContext else (),
        notes=output.notes,
        stop=output.stop,
        quiet=output.suppressOutput,
    )


def _messages(request: dict[str, Any] | None) -> list[Any] | None:
    messages = (request or {}).get("messages")
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        return None
    return [{**m, "role": _OUR_ROLES.get(str(m.get("role")), m.get("role"))} for m in messages]


def matched(call: Call) -> tuple[str, ...]:
    """Tool name, or what tells occurrences of a life-cycle event apart."""
    if call.tool:
        return names_of_tool(call, TOOL_NAMES)
    value = _extra(call)
    keys = ("source", "reason", "trigger", "notification_type")
    return tuple(str(value[key]) for key in keys if key in value)


def environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "GEMINI_PROJECT_DIR": call.cwd,
        "GEMINI_SESSION_ID": call.session_id,
        "GEMINI_CWD": call.cwd,
        "CLAUDE_PROJECT_DIR": call.cwd,
    }


DIALECT = Dialect(
    name="gemini",
    events=EVENTS,
    payload=payload,
    answer=answer,
    matches=matches_regex,
    matched=matched,
    environment=environment,
    timeout=lambda native: 60.0,
    unit=0.001,
    tool_names=TOOL_NAMES,
)

"""Copilot CLI: camelCase, or Claude's form where the event is written like Claude's; in order."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from amplifier_core import events
from amplifier_foundation.hooks.shell.dialects import claude
from amplifier_foundation.hooks.shell.dialects.dialect import (
    Answer,
    Build,
    Dialect,
    Occasion,
    extra_fields,
    names_of_tool,
    read_answer,
)
from amplifier_foundation.hooks.shell.handler import Call, Handler, Reply
from amplifier_foundation.hooks.shell.matcher import matches_listed, matches_whole
from amplifier_foundation.hooks.shell.verdict import UNCHANGED, Verdict, failed

_OWN: dict[str, tuple[Occasion, ...]] = {
    "preToolUse": claude.EVENTS["PreToolUse"],
    "postToolUse": claude.EVENTS["PostToolUse"],
    "postToolUseFailure": claude.EVENTS["PostToolUseFailure"],
    "permissionRequest": claude.EVENTS["PermissionRequest"],
    "userPromptSubmitted": claude.EVENTS["UserPromptSubmit"],
    "sessionStart": claude.EVENTS["SessionStart"],
    "sessionEnd": claude.EVENTS["SessionEnd"],
    "agentStop": claude.EVENTS["Stop"],
    "subagentStart": claude.EVENTS["SubagentStart"],
    "subagentStop": claude.EVENTS["SubagentStop"],
    "preCompact": claude.EVENTS["PreCompact"],
    "notification": claude.EVENTS["Notification"],
    "errorOccurred": (
        Occasion(events.ERROR_ORCHESTRATION),
        Occasion(events.PROVIDER_ERROR),
    ),
}

TOOL_NAMES = {
    "Bash": "bash",
    "Read": "view",
    "Write": "create",
    "Edit": "edit",
    "Glob": "glob",
    "Grep": "grep",
    "Delegate": "task",
}
_GATES = frozenset({"preToolUse", "permissionRequest", "PreToolUse", "PermissionRequest"})


class Output(Answer):
    """The object on stdout."""

    permissionDecision: Literal["allow", "deny", "ask"] | None = None  # noqa: N815 - on the wire
    permissionDecisionReason: str | None = None  # noqa: N815
    behavior: Literal["allow", "deny"] | None = None
    message: str | None = None
    decision: Literal["block", "allow"] | None = None
    reason: str | None = None
    modifiedArgs: dict[str, Any] | None = None  # noqa: N815
    modifiedResult: Any = UNCHANGED  # noqa: N815
    additionalContext: str | None = None  # noqa: N815
    suppressOutput: bool = False  # noqa: N815


def is_claude_form(native: str) -> bool:
    """Events in PascalCase get Claude's fields, tool names and matcher rules."""
    return native[:1].isupper()


def payload(call: Call) -> dict[str, Any]:
    """The object on stdin."""
    if is_claude_form(call.native):
        return claude.payload(call)
    return {
        "sessionId": call.session_id,
        "timestamp": _milliseconds(call.data.get("timestamp")),
        "cwd": call.cwd,
        **_extra(call),
    }


def _milliseconds(stamp: Any) -> int:
    try:
        return round(datetime.fromisoformat(str(stamp)).timestamp() * 1000)
    except ValueError:
        return 0


def _extra(call: Call) -> dict[str, Any]:
    builders: dict[str, Build] = {
        "preToolUse": _tool,
        "postToolUse": lambda c: {**_tool(c), "toolResult": _result(c, "success")},
        "postToolUseFailure": lambda c: {
            **_tool(c),
            "toolResult": _result(c, "failure"),
            "error": c.error,
        },
        "permissionRequest": _tool,
        "userPromptSubmitted": lambda c: {"prompt": str(c.data.get("prompt", ""))},
        "sessionStart": lambda c: {"source": _source(c), "initialPrompt": ""},
        "sessionEnd": lambda c: {"reason": c.data.get("reason")},
        "agentStop": lambda c: {"stopReason": "end_turn", "transcriptPath": c.transcript},
        "subagentStart": lambda c: {"agentName": c.data.get("agent_name")},
        "subagentStop": lambda c: {"agentName": c.data.get("agent_name"), "stopReason": "end_turn"},
        "preCompact": lambda c: {"trigger": c.data.get("trigger"), "customInstructions": ""},
        "notification": lambda c: {
            "notification_type": c.data.get("notification_type"),
            "message": c.data.get("message"),
        },
        "errorOccurred": lambda c: {"error": {"name": "Error", "message": c.error}},
    }
    return extra_fields(builders, call)


def _source(call: Call) -> str:
    return {"startup": "new"}.get(str(call.data.get("source")), str(call.data.get("source")))


def _tool(call: Call) -> dict[str, Any]:
    arguments = json.dumps(call.input, ensure_ascii=False, default=str)
    return {"toolName": TOOL_NAMES.get(call.tool, call.tool), "toolArgs": arguments}


def _result(call: Call, kind: str) -> dict[str, Any]:
    output = call.response.get("output")
    text = output if isinstance(output, str) else json.dumps(output, default=str)
    return {"resultType": kind, "textResultForLlm": text}


def answer(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """A gate that fails is closed, a timeout or an HTTP failure is not."""
    closed = replace(
        handler, fail_closed=handler.fail_closed or (_is_gate(call) and handler.url is None)
    )
    if reply.timed_out:
        return failed(reply.failure or "", fail_closed=handler.fail_closed)
    if is_claude_form(call.native):
        return claude.answer(closed, call, reply)
    output = read_answer(Output, closed, reply, blocks=call.native in _GATES)
    return output if isinstance(output, Verdict) else _verdict(output)


def _is_gate(call: Call) -> bool:
    return call.native in ("preToolUse", "PreToolUse")


def _verdict(output: Output) -> Verdict:
    blocked = "deny" if output.decision == "block" else None
    result = output.modifiedResult
    if isinstance(result, dict) and "textResultForLlm" in result:
        result = result["textResultForLlm"]
    return Verdict(
        decision=output.permissionDecision or output.behavior or blocked,  # type: ignore[arg-type]
        reason=output.permissionDecisionReason or output.message or output.reason,
        tool_input=output.modifiedArgs,
        output=result,
        context=(output.additionalContext,) if output.additionalContext else (),
        quiet=output.suppressOutput,
    )


def matched(call: Call) -> tuple[str, ...]:
    """Tool name, or the type of a notification."""
    if is_claude_form(call.native):
        return claude.matched(call)
    if call.tool:
        return names_of_tool(call, TOOL_NAMES)
    kind = call.data.get("notification_type")
    return (str(kind),) if kind else ()


def environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {"COPILOT_PROJECT_DIR": call.cwd, "CLAUDE_PROJECT_DIR": call.cwd}


DIALECT = Dialect(
    name="copilot",
    events={**claude.EVENTS, **_OWN},
    payload=payload,
    answer=answer,
    matches=matches_whole,
    matched=matched,
    environment=environment,
    timeout=lambda native: 30.0,
    in_order=True,
    tool_names=TOOL_NAMES,
)

# The same agent, for events that are written like Claude's.
CLAUDE_FORM = replace(DIALECT, name="copilot-claude-form", matches=matches_listed)

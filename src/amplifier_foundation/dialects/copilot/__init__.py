"""Copilot CLI: camelCase, or Claude's form where the event is written like Claude's; in order."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from amplifier_core import events
from amplifier_foundation.dialects import claude
from amplifier_foundation.dialects.answer import Answer, read_answer
from amplifier_foundation.dialects.call import Call
from amplifier_foundation.dialects.dialect import TOOL, Dialect, NativeEvent, Occasion
from amplifier_foundation.dialects.handler import Handler
from amplifier_foundation.dialects.matcher import matches_whole
from amplifier_foundation.dialects.reply import Reply
from amplifier_foundation.dialects.verdict import UNCHANGED, Decision, Verdict, report_failure

TOOL_NAMES = {
    "Bash": "bash",
    "Read": "view",
    "Write": "create",
    "Edit": "edit",
    "Glob": "glob",
    "Grep": "grep",
    "Delegate": "task",
}
_BLOCKS_AT_2 = frozenset({"preToolUse", "permissionRequest"})


# What hooks are told


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {
        "sessionId": call.session_id,
        "timestamp": _to_milliseconds(call.data.get("timestamp")),
        "cwd": call.cwd,
    }


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {"COPILOT_PROJECT_DIR": call.cwd, "CLAUDE_PROJECT_DIR": call.cwd}


def _to_milliseconds(stamp: Any) -> int:
    try:
        return round(datetime.fromisoformat(str(stamp)).timestamp() * 1000)
    except ValueError:
        return 0


def _build_tool(call: Call) -> dict[str, Any]:
    arguments = json.dumps(call.input, ensure_ascii=False, default=str)
    return {"toolName": TOOL_NAMES.get(call.tool, call.tool), "toolArgs": arguments}


def _build_tool_result(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "toolResult": _build_result(call, "success")}


def _build_tool_failure(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "toolResult": _build_result(call, "failure"), "error": call.error}


def _build_result(call: Call, kind: str) -> dict[str, Any]:
    output = call.response.get("output")
    text = output if isinstance(output, str) else json.dumps(output, default=str)
    return {"resultType": kind, "textResultForLlm": text}


def _build_session_start(call: Call) -> dict[str, Any]:
    source = str(call.data.get("source"))
    return {"source": "new" if source == "startup" else source, "initialPrompt": ""}


def _build_agent_stop(call: Call) -> dict[str, Any]:
    return {"stopReason": "end_turn", "transcriptPath": call.transcript}


def _build_subagent(call: Call) -> dict[str, Any]:
    return {"agentName": call.data.get("agent_name")}


def _build_notification(call: Call) -> dict[str, Any]:
    return {
        "notification_type": call.data.get("notification_type"),
        "message": call.data.get("message"),
    }


EVENTS: dict[str, NativeEvent] = {
    "preToolUse": NativeEvent((Occasion(events.TOOL_PRE),), _build_tool, TOOL),
    "postToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),), _build_tool_result, TOOL
    ),
    "postToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        _build_tool_failure,
        TOOL,
    ),
    "permissionRequest": NativeEvent((Occasion(events.APPROVAL_REQUIRED),), _build_tool, TOOL),
    "userPromptSubmitted": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        lambda call: {"prompt": str(call.data.get("prompt", ""))},
    ),
    "sessionStart": NativeEvent((Occasion(events.SESSION_START),), _build_session_start),
    "sessionEnd": NativeEvent(
        (Occasion(events.SESSION_END),), lambda call: {"reason": call.data.get("reason")}
    ),
    "agentStop": NativeEvent(
        (Occasion(events.ORCHESTRATOR_COMPLETE, success=True),), _build_agent_stop
    ),
    "subagentStart": NativeEvent((Occasion(events.AGENT_SPAWN),), _build_subagent),
    "subagentStop": NativeEvent(
        (Occasion(events.AGENT_COMPLETE),),
        lambda call: {**_build_subagent(call), "stopReason": "end_turn"},
    ),
    "preCompact": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        lambda call: {"trigger": call.data.get("trigger"), "customInstructions": ""},
    ),
    "notification": NativeEvent(
        (Occasion(events.USER_NOTIFICATION),), _build_notification, "notification_type"
    ),
    "errorOccurred": NativeEvent(
        (Occasion(events.ERROR_ORCHESTRATION), Occasion(events.PROVIDER_ERROR)),
        lambda call: {"error": {"name": "Error", "message": call.error}},
    ),
}


# What hooks answer


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


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """JSON at exit 0; at 2 a block where there is something to block."""
    if reply.timed_out:
        return _report_timeout(handler, reply)
    closed = replace(handler, fail_closed=DIALECT.fails_closed(handler))
    output = read_answer(Output, closed, reply, blocks=call.native in _BLOCKS_AT_2)
    return output if isinstance(output, Verdict) else _build_verdict(output)


def read_claude_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """Claude's answers, with the failure direction of Copilot."""
    if reply.timed_out:
        return _report_timeout(handler, reply)
    closed = replace(handler, fail_closed=CLAUDE_FORM.fails_closed(handler))
    return claude.read_reply(closed, call, reply)


def _report_timeout(handler: Handler, reply: Reply) -> Verdict:
    """Copilot goes ahead after a timeout, also where it blocks after any other failure."""
    return report_failure(reply.failure or "", fail_closed=handler.fail_closed)


def _build_verdict(output: Output) -> Verdict:
    result = output.modifiedResult
    if isinstance(result, dict) and "textResultForLlm" in result:
        result = result["textResultForLlm"]
    return Verdict(
        decision=_decide(output),
        reason=output.permissionDecisionReason or output.message or output.reason,
        tool_input=output.modifiedArgs,
        output=result,
        context=(output.additionalContext,) if output.additionalContext else (),
        quiet=output.suppressOutput,
    )


def _decide(output: Output) -> Decision | None:
    blocked: Decision | None = "deny" if output.decision == "block" else None
    return output.permissionDecision or output.behavior or blocked


# Events in PascalCase get Claude's fields, tool names and matcher rules.
CLAUDE_FORM = replace(
    claude.DIALECT,
    name="copilot-claude-form",
    build_environment=build_environment,
    read_reply=read_claude_reply,
    timeout=30.0,
    timeouts={},
    in_order=True,
    closed=frozenset({"PreToolUse"}),
)

DIALECT = Dialect(
    name="copilot",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    matches=matches_whole,
    timeout=30.0,
    in_order=True,
    closed=frozenset({"preToolUse"}),
    tool_names=TOOL_NAMES,
    variant=CLAUDE_FORM,
)

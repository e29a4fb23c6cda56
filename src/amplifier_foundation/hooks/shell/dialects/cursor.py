"""Cursor: hooks.json, one list per event, in order, open unless `failClosed`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

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
from amplifier_foundation.hooks.shell.matcher import matches_regex
from amplifier_foundation.hooks.shell.verdict import UNCHANGED, Verdict
from amplifier_foundation.policy.editing_tools import EDITING_TOOLS

_SHELL = frozenset({"Bash"})
_MCP = frozenset({"mcp__*"})

EVENTS: dict[str, tuple[Occasion, ...]] = {
    "preToolUse": (Occasion(events.TOOL_PRE),),
    "postToolUse": (Occasion(events.TOOL_POST, success=True),),
    "postToolUseFailure": (
        Occasion(events.TOOL_ERROR),
        Occasion(events.TOOL_POST, success=False),
    ),
    "beforeShellExecution": (Occasion(events.TOOL_PRE, tools=_SHELL),),
    "afterShellExecution": (Occasion(events.TOOL_POST, tools=_SHELL),),
    "beforeMCPExecution": (Occasion(events.TOOL_PRE, tools=_MCP),),
    "afterMCPExecution": (Occasion(events.TOOL_POST, tools=_MCP),),
    "beforeReadFile": (Occasion(events.TOOL_PRE, tools=frozenset({"Read"})),),
    "afterFileEdit": (Occasion(events.TOOL_POST, tools=EDITING_TOOLS, success=True),),
    "beforeSubmitPrompt": (Occasion(events.PROMPT_SUBMIT),),
    "subagentStart": (Occasion(events.AGENT_SPAWN),),
    "subagentStop": (Occasion(events.AGENT_COMPLETE),),
    "stop": (Occasion(events.ORCHESTRATOR_COMPLETE),),
    "preCompact": (Occasion(events.CONTEXT_PRE_COMPACT),),
    "afterAgentResponse": (Occasion(events.PROMPT_COMPLETE),),
    "afterAgentThought": (Occasion(events.THINKING_FINAL),),
    "sessionStart": (Occasion(events.SESSION_START),),
    "sessionEnd": (Occasion(events.SESSION_END),),
}

TOOL_NAMES = {"Bash": "Shell", "Delegate": "Task"}


class Output(Answer):
    """The object on stdout; Cursor has written its names in both ways."""

    continue_: bool = Field(True, alias="continue")
    permission: Literal["allow", "deny", "ask"] | None = None
    user_message: str | None = None
    userMessage: str | None = None  # noqa: N815 - the name on the wire
    agent_message: str | None = None
    agentMessage: str | None = None  # noqa: N815
    updated_input: dict[str, Any] | None = None
    updated_mcp_tool_output: Any = UNCHANGED
    additional_context: str | None = None
    followup_message: str | None = None


def payload(call: Call) -> dict[str, Any]:
    """The object on stdin."""
    return {
        "conversation_id": call.session_id,
        "generation_id": str(call.data.get("tool_call_id") or call.session_id),
        "hook_event_name": call.native,
        "workspace_roots": [call.cwd],
        "cwd": call.cwd,
        "transcript_path": call.transcript or None,
        **_extra(call),
    }


def _extra(call: Call) -> dict[str, Any]:
    builders: dict[str, Build] = {
        "preToolUse": _tool,
        "postToolUse": lambda c: {**_tool(c), "tool_output": _output(c), "duration": _took(c)},
        "postToolUseFailure": lambda c: {
            **_tool(c),
            "error_message": c.error,
            "duration": _took(c),
        },
        "beforeShellExecution": lambda c: {"command": c.input.get("command", "")},
        "afterShellExecution": lambda c: {
            "command": c.input.get("command", ""),
            "output": _output(c),
            "duration": _took(c),
        },
        "beforeMCPExecution": _tool,
        "afterMCPExecution": lambda c: {**_tool(c), "result_json": _output(c)},
        "beforeReadFile": lambda c: {"file_path": c.input.get("file_path", ""), "content": ""},
        "afterFileEdit": lambda c: {"file_path": c.input.get("file_path", ""), "edits": _edits(c)},
        "beforeSubmitPrompt": lambda c: {"prompt": c.data.get("prompt", ""), "attachments": []},
        "subagentStart": _subagent,
        "subagentStop": lambda c: {**_subagent(c), "status": c.data.get("status")},
        "stop": lambda c: {"status": _status(c), "loop_count": c.blocked_stops},
        "preCompact": lambda c: {"trigger": c.data.get("trigger")},
        "afterAgentResponse": lambda c: {"text": str(c.data.get("response", ""))},
        "afterAgentThought": lambda c: {"text": str(c.data.get("thinking", ""))},
        "sessionStart": lambda c: {"session_id": c.session_id},
        "sessionEnd": lambda c: {"session_id": c.session_id, "reason": c.data.get("reason")},
    }
    return extra_fields(builders, call)


def _tool(call: Call) -> dict[str, Any]:
    return {
        "tool_name": TOOL_NAMES.get(call.tool, call.tool),
        "tool_input": call.input,
        "tool_use_id": str(call.data.get("tool_call_id") or ""),
    }


def _output(call: Call) -> Any:
    output = call.response.get("output")
    return output if isinstance(output, str) else claude.tool_response(call)


def _took(call: Call) -> Any:
    return call.data.get("duration_ms", 0)


def _edits(call: Call) -> list[dict[str, Any]]:
    given = call.input
    if isinstance(given.get("edits"), list):
        return list(given["edits"])
    new = given.get("new_string", given.get("content", ""))
    return [{"old_string": given.get("old_string", ""), "new_string": new}]


def _subagent(call: Call) -> dict[str, Any]:
    return {"subagent_type": call.data.get("agent_name"), "task": call.data.get("task")}


def _status(call: Call) -> str:
    return {"success": "completed", "interrupted": "aborted"}.get(
        str(call.data.get("status")), "error"
    )


def answer(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """JSON at exit 0, a block at 2, open otherwise unless `failClosed`."""
    output = read_answer(Output, handler, reply)
    return output if isinstance(output, Verdict) else _verdict(output)


def _verdict(output: Output) -> Verdict:
    for_user = output.user_message or output.userMessage
    for_agent = output.agent_message or output.agentMessage
    decision: Any = output.permission
    if not output.continue_ or output.followup_message:
        decision = "deny"
    refused = decision in ("deny", "ask")
    return Verdict(
        decision=decision,
        reason=(output.followup_message or for_agent or for_user) if refused else None,
        tool_input=output.updated_input,
        output=output.updated_mcp_tool_output,
        context=tuple(t for t in (output.additional_context, None if refused else for_agent) if t),
        notes=(for_user,) if for_user else (),
    )


def matched(call: Call) -> tuple[str, ...]:
    """The command of shell events, the tool's name of others."""
    if "Shell" in call.native:
        return (str(call.input.get("command", "")),)
    return names_of_tool(call, TOOL_NAMES) if call.tool else ()


def environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {"CURSOR_PROJECT_DIR": call.cwd, "CLAUDE_PROJECT_DIR": call.cwd}


DIALECT = Dialect(
    name="cursor",
    events=EVENTS,
    payload=payload,
    answer=answer,
    matches=matches_regex,
    matched=matched,
    environment=environment,
    timeout=lambda native: 60.0,
    in_order=True,
    tool_names=TOOL_NAMES,
)

"""Cursor: hooks.json, one list per event, in order, open unless `failClosed`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from amplifier_core import events
from amplifier_foundation.dialects.answer import Answer, read_answer
from amplifier_foundation.dialects.call import Call
from amplifier_foundation.dialects.claude import build_response
from amplifier_foundation.dialects.dialect import TOOL, Dialect, NativeEvent, Occasion
from amplifier_foundation.dialects.handler import Handler
from amplifier_foundation.dialects.matcher import matches_regex
from amplifier_foundation.dialects.reply import Reply
from amplifier_foundation.dialects.verdict import UNCHANGED, Decision, Verdict
from amplifier_foundation.policy.editing_tools import EDITING_TOOLS

TOOL_NAMES = {"Bash": "Shell", "Delegate": "Task"}
_SHELL = frozenset({"Bash"})
_MCP = frozenset({"mcp__*"})
_READ = frozenset({"Read"})
_STATUS = {"success": "completed", "interrupted": "aborted"}


# What hooks are told


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {
        "conversation_id": call.session_id,
        "generation_id": call.tool_call_id or call.session_id,
        "hook_event_name": call.native,
        "workspace_roots": [call.cwd],
        "cwd": call.cwd,
        "transcript_path": call.transcript or None,
    }


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {"CURSOR_PROJECT_DIR": call.cwd, "CLAUDE_PROJECT_DIR": call.cwd}


def _build_tool(call: Call) -> dict[str, Any]:
    return {
        "tool_name": TOOL_NAMES.get(call.tool, call.tool),
        "tool_input": call.input,
        "tool_use_id": call.tool_call_id,
    }


def _build_tool_result(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "tool_output": _get_output(call), "duration": _get_duration(call)}


def _build_tool_failure(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "error_message": call.error, "duration": _get_duration(call)}


def _build_command(call: Call) -> dict[str, Any]:
    return {"command": call.input.get("command", "")}


def _build_command_result(call: Call) -> dict[str, Any]:
    return {**_build_command(call), "output": _get_output(call), "duration": _get_duration(call)}


def _build_edit(call: Call) -> dict[str, Any]:
    return {"file_path": call.input.get("file_path", ""), "edits": _list_edits(call)}


def _build_subagent(call: Call) -> dict[str, Any]:
    return {"subagent_type": call.data.get("agent_name"), "task": call.data.get("task")}


def _build_stop(call: Call) -> dict[str, Any]:
    status = _STATUS.get(str(call.data.get("status")), "error")
    return {"status": status, "loop_count": call.blocked_stops}


def _get_output(call: Call) -> Any:
    output = call.response.get("output")
    return output if isinstance(output, str) else build_response(call)


def _get_duration(call: Call) -> Any:
    return call.data.get("duration_ms", 0)


def _list_edits(call: Call) -> list[dict[str, Any]]:
    given = call.input
    if isinstance(given.get("edits"), list):
        return list(given["edits"])
    new = given.get("new_string", given.get("content", ""))
    return [{"old_string": given.get("old_string", ""), "new_string": new}]


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
    "beforeShellExecution": NativeEvent(
        (Occasion(events.TOOL_PRE, tools=_SHELL),), _build_command, "command"
    ),
    "afterShellExecution": NativeEvent(
        (Occasion(events.TOOL_POST, tools=_SHELL),), _build_command_result, "command"
    ),
    "beforeMCPExecution": NativeEvent((Occasion(events.TOOL_PRE, tools=_MCP),), _build_tool, TOOL),
    "afterMCPExecution": NativeEvent(
        (Occasion(events.TOOL_POST, tools=_MCP),),
        lambda call: {**_build_tool(call), "result_json": _get_output(call)},
        TOOL,
    ),
    "beforeReadFile": NativeEvent(
        (Occasion(events.TOOL_PRE, tools=_READ),),
        lambda call: {"file_path": call.input.get("file_path", ""), "content": ""},
        TOOL,
    ),
    "afterFileEdit": NativeEvent(
        (Occasion(events.TOOL_POST, tools=EDITING_TOOLS, success=True),), _build_edit, TOOL
    ),
    "beforeSubmitPrompt": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        lambda call: {"prompt": call.data.get("prompt", ""), "attachments": []},
    ),
    "subagentStart": NativeEvent((Occasion(events.AGENT_SPAWN),), _build_subagent),
    "subagentStop": NativeEvent(
        (Occasion(events.AGENT_COMPLETE),),
        lambda call: {**_build_subagent(call), "status": call.data.get("status")},
    ),
    "stop": NativeEvent((Occasion(events.ORCHESTRATOR_COMPLETE),), _build_stop),
    "preCompact": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),), lambda call: {"trigger": call.data.get("trigger")}
    ),
    "afterAgentResponse": NativeEvent(
        (Occasion(events.PROMPT_COMPLETE),),
        lambda call: {"text": str(call.data.get("response", ""))},
    ),
    "afterAgentThought": NativeEvent(
        (Occasion(events.THINKING_FINAL),),
        lambda call: {"text": str(call.data.get("thinking", ""))},
    ),
    "sessionStart": NativeEvent(
        (Occasion(events.SESSION_START),), lambda call: {"session_id": call.session_id}
    ),
    "sessionEnd": NativeEvent(
        (Occasion(events.SESSION_END),),
        lambda call: {"session_id": call.session_id, "reason": call.data.get("reason")},
    ),
}


# What hooks answer


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

    @property
    def for_user(self) -> str | None:
        """What the person is to read."""
        return self.user_message or self.userMessage

    @property
    def for_agent(self) -> str | None:
        """What the agent is to read."""
        return self.agent_message or self.agentMessage

    @property
    def decision(self) -> Decision | None:
        """What was decided: a follow-up refuses the stop that it follows."""
        return "deny" if not self.continue_ or self.followup_message else self.permission


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """JSON at exit 0, a block at 2, open otherwise unless `failClosed`."""
    output = read_answer(Output, handler, reply)
    return output if isinstance(output, Verdict) else _build_verdict(output)


def _build_verdict(output: Output) -> Verdict:
    """A message for the agent is the reason of a refusal, and context otherwise."""
    refuses = output.decision in ("deny", "ask")
    reason = output.followup_message or output.for_agent or output.for_user
    context = (output.additional_context, None if refuses else output.for_agent)
    return Verdict(
        decision=output.decision,
        reason=reason if refuses else None,
        tool_input=output.updated_input,
        output=output.updated_mcp_tool_output,
        context=tuple(text for text in context if text),
        notes=(output.for_user,) if output.for_user else (),
    )


DIALECT = Dialect(
    name="cursor",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    matches=matches_regex,
    timeout=60.0,
    in_order=True,
    tool_names=TOOL_NAMES,
)

"""Cursor: hooks.json, one list per event, open unless `failClosed`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from amplifier_hooks.coding_agents.dialects.answer import Answer, read_answer
from amplifier_hooks.coding_agents.dialects.cursor_events import (
    INPUT_KEYS,
    OLDER_NAMES,
    SESSION_EVENTS,
    TOOL_EVENTS,
    TOOL_NAMES,
    find_parts,
    is_from_server,
    restore_fields,
)
from amplifier_hooks.coding_agents.dialects.dialect import (
    Call,
    Dialect,
    Handler,
    Keys,
    Reply,
    build_reply,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Decision, Verdict

LONGEST_CONTEXT = 10_000
"""Characters; of a longer context Cursor takes nothing."""

_BLOCKED = 2
_SHOWN_ALREADY = "A hook changed this result, but Cursor had shown it already. It should read:"
_STOPS = frozenset({"stop", "subagentStop"})
_PERMISSIONS = frozenset(
    {
        "beforeMCPExecution",
        "beforeReadFile",
        "beforeShellExecution",
        "beforeTabFileRead",
        "preToolUse",
        "subagentStart",
    }
)


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


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """One object in any case: where hooks fail closed, silence is a failure."""
    reply = build_reply(_build_answer(incoming, verdict))
    return reply if reply.stdout else Reply(stdout="{}")


def write_blocking_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """The same for a line in another agent's settings, where only the exit code surely blocks."""
    if verdict.decision == "deny" and incoming.native not in _STOPS:
        return Reply(code=_BLOCKED, stderr=verdict.reason or "")
    return write_reply(incoming, verdict)


def _build_answer(incoming: Incoming, verdict: Verdict) -> dict[str, Any]:
    if incoming.native in _PERMISSIONS:
        return _answer_request(incoming, verdict)
    if incoming.native in _STOPS:
        return {"followup_message": verdict.reason if verdict.decision == "deny" else None}
    if incoming.native == "beforeSubmitPrompt":
        return _answer_prompt(verdict)
    if incoming.native == "postToolUse":
        return _answer_result(incoming, verdict)
    return {
        "user_message": "\n".join(verdict.notes) or None,
        "additional_context": _join_context(verdict.context),
    }


def _answer_request(incoming: Incoming, verdict: Verdict) -> dict[str, Any]:
    changed = verdict.tool_input
    reason = verdict.reason if verdict.decision in ("deny", "ask") else None
    return {
        "permission": verdict.decision,
        "user_message": reason,
        "agent_message": reason,
        "updated_input": None if changed is None else restore_fields(incoming.payload, changed),
    }


def _answer_prompt(verdict: Verdict) -> dict[str, Any]:
    if verdict.decision == "deny":
        return {"continue": False, "user_message": verdict.reason}
    return {"additional_context": _join_context(verdict.context)}


def _answer_result(incoming: Incoming, verdict: Verdict) -> dict[str, Any]:
    """Only what an MCP server returned can be replaced."""
    changed = verdict.output
    context = verdict.context
    if changed is not UNCHANGED and not is_from_server(incoming.payload):
        changed, context = UNCHANGED, (f"{_SHOWN_ALREADY} {_print(changed)}", *context)
    return {
        "updated_mcp_tool_output": None if changed is UNCHANGED else _shape_result(changed),
        "additional_context": _join_context(context),
    }


def _shape_result(changed: Any) -> dict[str, Any]:
    """An object of the same form, or the form that every MCP server has."""
    if isinstance(changed, Mapping):
        return dict(changed)
    return {"content": [{"type": "text", "text": _print(changed)}]}


def _print(changed: Any) -> str:
    return changed if isinstance(changed, str) else json.dumps(changed, default=str)


def _join_context(texts: tuple[str, ...]) -> str | None:
    return "\n\n".join(texts)[:LONGEST_CONTEXT] or None


EVENTS = {**TOOL_EVENTS, **SESSION_EVENTS}


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {
        "conversation_id": call.session_id,
        "session_id": call.session_id,
        "generation_id": call.tool_call_id or call.session_id,
        "hook_event_name": call.native,
        "workspace_roots": [call.cwd],
        "cwd": call.cwd,
        "transcript_path": call.transcript or None,
    }


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {"CURSOR_PROJECT_DIR": call.cwd, "CLAUDE_PROJECT_DIR": call.cwd}


DIALECT = Dialect(
    name="cursor",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_regex,
    timeout=60.0,
    in_order=True,
    tool_names=TOOL_NAMES,
    input_keys=INPUT_KEYS,
    older_names=OLDER_NAMES,
    find_parts=find_parts,
    keys=Keys(session="conversation_id", agent="subagent_id"),
)

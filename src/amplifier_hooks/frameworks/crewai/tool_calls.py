"""The two halves of a tool call, which CrewAI runs between them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from crewai.hooks import HookAborted, ToolCallHookContext
from crewai.tools.mcp_native_tool import MCPNativeTool
from crewai.tools.tool_failure import ToolFailure

from amplifier_core import events
from amplifier_core.utils import describe_error
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.run import inside
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoff, Kickoffs

DELEGATING = {"delegate_work_to_coworker": "task", "ask_question_to_coworker": "question"}
"""The tools by which an agent has another one work, with the name of what it is to do."""

FAILED = ("Error executing tool: ", "I encountered an error while trying to use the tool.")
UNKNOWN = "Tool not found"
BLOCKED = "Tool execution blocked by hook. Tool: "
"""What CrewAI says when a hook after ours has refused the call."""


@dataclass(slots=True)
class _Open:
    """A call that CrewAI runs now."""

    kickoff: Kickoff
    call_id: str
    said: tuple[str, ...]
    """What the person said who allowed it."""
    outer: Any = None
    before: Kickoff | None = None
    inner: Kickoff | None = None


class ToolCalls:
    """Judges a call before it runs, and what came of it."""

    def __init__(self, kickoffs: Kickoffs, *, plain_names: bool = False) -> None:
        self._kickoffs = kickoffs
        self._plain_names = plain_names
        # CrewAI gives calls no id, but the same object of arguments before and after.
        self._running: dict[int, _Open] = {}
        self._denied: dict[int, str] = {}

    def before(self, context: ToolCallHookContext) -> None:
        """Raise HookAborted for a call that must not run; its arguments are changed in place."""
        key = id(context.tool_input)
        self._denied.pop(key, None)
        try:
            self._start(key, context)
        except BaseException as error:
            why = error.reason if isinstance(error, HookAborted) else explain(error)
            self._denied[key] = why
            raise HookAborted(why) from error

    def _start(self, key: int, context: ToolCallHookContext) -> None:
        kickoff = self._kickoffs.find(context.agent, context.task, context.crew)
        call_id = f"call_{uuid.uuid4().hex[:12]}"
        asked = _describe(events.TOOL_PRE, self._name(context), context, call_id)
        verdict = kickoff.calls.before_sync(asked)
        if verdict.decision == "deny":
            raise HookAborted(verdict.reason or "denied")
        try:
            _change_input(context, verdict)
            opened = _Open(kickoff, call_id, verdict.context, inside.get())
            if context.tool_name in DELEGATING:
                opened.inner = self._start_coworker(kickoff, context)
        except BaseException:
            kickoff.calls.give_up(asked)
            raise
        inside.set(kickoff.run)
        opened.before = self._kickoffs.enter(opened.inner or kickoff)
        self._running[key] = opened

    def _start_coworker(self, kickoff: Kickoff, context: ToolCallHookContext) -> Kickoff:
        given = context.tool_input
        asked: dict[str, Any] = {
            "parent_session_id": kickoff.run.coordinator.session_id,
            "agent_name": str(given.get("coworker") or ""),
            "task": str(given.get(DELEGATING[context.tool_name]) or ""),
            "config_override": {},
        }
        run = kickoff.run
        outcome = run.home.run_sync(run.ask(events.AGENT_SPAWN, asked))
        if not outcome.allowed:
            raise HookAborted(outcome.denial)
        left = outcome.data or {}
        if any(left.get(name, asked[name]) != asked[name] for name in asked):
            raise HookAborted("a hook changed the start of a coworker, which cannot be done")
        inner = self._kickoffs.begin_inner(kickoff, asked["agent_name"])
        said = inner.run.coordinator.inject_answers(events.AGENT_SPAWN, list(outcome.answers))
        run.home.run_sync(said)
        return inner

    def after(self, context: ToolCallHookContext) -> str | None:
        """What the agent reads in the place of the result; None if that is left alone."""
        key = id(context.tool_input)
        denied = self._denied.pop(key, None)
        if denied is not None:
            return denied
        opened = self._running.pop(key, None)
        if opened is None:
            return "Withheld: this call was not judged."
        try:
            return self._finish(opened, context)
        except BaseException as error:  # noqa: BLE001 - what nobody could judge is not shown
            return f"Withheld: {explain(error)}"

    def _finish(self, opened: _Open, context: ToolCallHookContext) -> str | None:
        self._leave(opened, context)
        name, text = self._name(context), str(context.tool_result or "")
        if text.startswith(BLOCKED):
            opened.kickoff.calls.give_up(_describe(events.TOOL_PRE, name, context, opened.call_id))
            return None
        if _has_failed(context, text):
            kind = "InvalidToolCall" if text == UNKNOWN else "ToolError"
            error = {"type": kind, "message": text}
            told = _describe(events.TOOL_ERROR, name, context, opened.call_id, error=error)
            opened.kickoff.calls.fail_sync(told)
            return None
        result = {"success": True, "output": text, "error": None}
        told = _describe(events.TOOL_POST, name, context, opened.call_id, tool_result=result)
        changed = _read_output(opened.kickoff.calls.after_sync(told))
        if not opened.said:
            return changed
        return "\n\n".join((*opened.said, text if changed is None else changed))

    def _name(self, context: ToolCallHookContext) -> str:
        """CrewAI puts the name of the server before that of an MCP tool."""
        own = getattr(context.tool, "_original_tool", None)
        if self._plain_names and isinstance(own, MCPNativeTool):
            return own.original_tool_name
        return context.tool_name

    def _leave(self, opened: _Open, context: ToolCallHookContext) -> None:
        inside.set(opened.outer)
        self._kickoffs.enter(opened.before)
        if opened.inner is None:
            return
        opened.inner.end("complete")
        opened.kickoff.inners.remove(opened.inner)
        given = context.tool_input
        done = {
            "parent_session_id": opened.kickoff.run.coordinator.session_id,
            "agent_name": str(given.get("coworker") or ""),
            "task": str(given.get(DELEGATING[context.tool_name]) or ""),
            "result": {"output": str(context.tool_result or "")},
            "duration_ms": 0,
            "status": "success",
        }
        opened.kickoff.run.tell_sync(events.AGENT_COMPLETE, done)


def _change_input(context: ToolCallHookContext, verdict: Verdict) -> None:
    if verdict.tool_input is None:
        return
    if not context.tool_input:
        raise HookAborted(
            "a hook gave arguments to a call that has none, which CrewAI does not take over"
        )
    context.tool_input.clear()
    context.tool_input.update(verdict.tool_input)


def explain(error: BaseException) -> str:
    """The denial of what nobody could judge."""
    return f"amplifier: this was not judged, so it is not allowed: {describe_error(error)}"


def _describe(
    event: str, name: str, context: ToolCallHookContext, call_id: str, **more: Any
) -> Incoming:
    given = {"tool_name": name, "tool_input": dict(context.tool_input), "tool_call_id": call_id}
    return Incoming(event, {**given, **more}, event, "", call_id=call_id)


def _has_failed(context: ToolCallHookContext, text: str) -> bool:
    """CrewAI tells of a tool that raised, or that does not exist, by a text."""
    raw = context.raw_tool_result
    if isinstance(raw, ToolFailure):
        return True
    return text.startswith(FAILED) or (context.tool is None and text == UNKNOWN)


def _read_output(verdict: Verdict) -> str | None:
    if verdict.output is UNCHANGED:
        return None
    return verdict.output if isinstance(verdict.output, str) else str(verdict.output)

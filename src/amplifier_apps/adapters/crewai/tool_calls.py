"""The two halves of a tool call, which CrewAI runs between them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from crewai.hooks import HookAborted, ToolCallHookContext

from amplifier_apps.adapters.crewai.kickoffs import Kickoff, Kickoffs
from amplifier_apps.adapters.governing.nesting import inside
from amplifier_core import events
from amplifier_core.utils import describe_error
from amplifier_foundation.dialects.incoming import Incoming
from amplifier_foundation.dialects.verdict import UNCHANGED, Verdict

DELEGATING = {"delegate_work_to_coworker": "task", "ask_question_to_coworker": "question"}
"""The tools by which an agent has another one work, with the name of what it is to do."""

FAILED = ("Error executing tool: ", "I encountered an error while trying to use the tool.")
UNKNOWN = "Tool not found"


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

    def __init__(self, kickoffs: Kickoffs) -> None:
        self._kickoffs = kickoffs
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
        kickoff = self._kickoffs.find(context.task, context.agent, context.crew)
        call_id = f"call_{uuid.uuid4().hex[:12]}"
        given = dict(context.tool_input)
        verdict = kickoff.calls.before_sync(_describe(events.TOOL_PRE, context, call_id))
        if verdict.decision == "deny":
            raise HookAborted(verdict.reason or "denied")
        if verdict.tool_input is not None:
            if not given:
                raise HookAborted(
                    "a hook gave arguments to a call that has none, which CrewAI does not take over"
                )
            context.tool_input.clear()
            context.tool_input.update(verdict.tool_input)
        opened = _Open(kickoff, call_id, verdict.context, inside.get())
        if context.tool_name in DELEGATING:
            opened.inner = self._start_coworker(kickoff, context)
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
        text = str(context.tool_result or "")
        if text.startswith(FAILED) or (context.tool is None and text == UNKNOWN):
            opened.kickoff.calls.fail_sync(_describe_failure(context, opened.call_id, text))
            return None
        result = {"success": True, "output": text, "error": None}
        told = _describe(events.TOOL_POST, context, opened.call_id, tool_result=result)
        verdict = opened.kickoff.calls.after_sync(told)
        changed = _read_output(verdict)
        if not opened.said:
            return changed
        return "\n\n".join((*opened.said, text if changed is None else changed))

    def _leave(self, opened: _Open, context: ToolCallHookContext) -> None:
        inside.set(opened.outer)
        self._kickoffs.enter(opened.before)
        if opened.inner is None:
            return
        opened.inner.end("complete")
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


def explain(error: BaseException) -> str:
    """The denial of what nobody could judge."""
    return f"amplifier: this was not judged, so it is not allowed: {describe_error(error)}"


def _describe(event: str, context: ToolCallHookContext, call_id: str, **more: Any) -> Incoming:
    data = {
        "tool_name": context.tool_name,
        "tool_input": dict(context.tool_input),
        "tool_call_id": call_id,
        **more,
    }
    return Incoming(event, data, event, "", call_id=call_id)


def _describe_failure(context: ToolCallHookContext, call_id: str, text: str) -> Incoming:
    kind = "InvalidToolCall" if text == UNKNOWN else "ToolError"
    error = {"type": kind, "message": text}
    return _describe(events.TOOL_ERROR, context, call_id, error=error)


def _read_output(verdict: Verdict) -> str | None:
    if verdict.output is UNCHANGED:
        return None
    return verdict.output if isinstance(verdict.output, str) else str(verdict.output)

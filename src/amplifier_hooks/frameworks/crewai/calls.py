"""The requests and the tool calls of a crew, before and after."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from crewai.hooks import HookAborted, ToolCallHookContext
from crewai.llms.base_llm import BaseLLM
from crewai.tools.mcp_native_tool import MCPNativeTool
from crewai.tools.tool_failure import ToolFailure
from crewai.utilities.agent_utils import extract_tool_call_info, is_tool_call_list
from pydantic import BaseModel

from amplifier_core import events
from amplifier_core.utils import describe_error
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.external.run import inside
from amplifier_hooks.external.verdicts import (
    UNCHANGED,
    Reply,
    ReplyVerdict,
    RequestVerdict,
    Verdict,
)
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoff, Kickoffs


def list_messages(messages: Any) -> list[Any]:
    """The messages of a request; a text alone is one of the user."""
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)


def describe_message(message: Any) -> Plain:
    """One of them in plain values."""
    content = message.get("content")
    plain: Plain = {"role": message.get("role", "user"), "content": content or ""}
    calls = message.get("tool_calls")
    if calls:
        plain["tool_calls"] = [_describe_call(one) for one in calls]
    for key in ("tool_call_id", "name"):
        if message.get(key):
            plain[key] = message[key]
    return plain


def place_back(messages: Sequence[Any], placed: Sequence[Placed]) -> list[Any]:
    """What to send: CrewAI's own messages where hooks left them alone."""
    return [_put_back(messages, one) for one in placed]


def _put_back(messages: Sequence[Any], one: Placed) -> Any:
    if one.index is None:
        return dict(one.message or {})
    before = messages[one.index]
    if one.message is None:
        return before
    return {**before, "content": one.message.get("content")}


def list_tools(tools: Any) -> list[str]:
    """The names of the tools that a model is offered."""
    return [str((one.get("function") or one).get("name")) for one in tools or ()]


# Replies


def read_reply(answer: Any, model: str | None, usage: dict[str, Any], spent_ms: int) -> Reply:
    """A reply: a text, a filled form, or tool calls."""
    calls = read_calls(answer)
    text = "" if calls else _read_text(answer)
    return Reply(text, calls=calls, model=model, usage=usage, duration_ms=spent_ms)


def read_calls(answer: Any) -> list[dict[str, Any]]:
    """The tool calls of a reply; none if it is something else."""
    if not isinstance(answer, list) or not is_tool_call_list(answer):
        return []
    return [_describe_call(one) for one in answer]


def _describe_call(call: Any) -> dict[str, Any]:
    call_id, name, given = extract_tool_call_info(call) or ("", "unknown", {})
    return {"id": str(call_id), "name": name, "arguments": _read_arguments(given)}


def _read_arguments(given: Any) -> dict[str, Any]:
    """As an object; what a model wrote wrongly is answered by CrewAI and runs nothing."""
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except ValueError:
            return {"arguments": given}
    return dict(given) if isinstance(given, dict) else {"arguments": given}


def _read_text(answer: Any) -> str:
    return answer.model_dump_json() if isinstance(answer, BaseModel) else str(answer or "")


def write_reply(answer: Any, verdict: ReplyVerdict) -> Any:
    """The reply as hooks left it; ValueError if CrewAI has no such reply."""
    if verdict.calls:
        if verdict.text:
            raise ValueError("a hook left a text beside tool calls, and CrewAI takes only one")
        return [_write_call(one) for one in verdict.calls]
    if verdict.text is None:
        if verdict.calls is None:
            return answer
        raise ValueError("a hook left neither a text nor a tool call")
    if verdict.calls is None and read_calls(answer):
        raise ValueError("a hook left a text beside tool calls, and CrewAI takes only one")
    if isinstance(answer, BaseModel):
        return type(answer).model_validate_json(verdict.text)
    return verdict.text


def _write_call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call.get("arguments") or {})}
    return {"id": call["id"], "type": "function", "function": function}


_under_way: ContextVar[frozenset[int]] = ContextVar("amplifier_model_calls", default=frozenset())
"""The models whose call is being judged here: it may call itself once more."""


class GovernedCall:
    """Stands for `call` or `acall` of one model object.

    CrewAI's own hooks get no reply that calls tools, and a change of theirs stays in the agent's
    conversation; so it is the call itself that passes our hooks.
    """

    def __init__(self, llm: BaseLLM, name: str, kickoffs: Kickoffs) -> None:
        self.llm = llm
        self.name = name
        self.kickoffs = kickoffs
        self._call: Any = llm.__dict__.get(name) or getattr(llm, name)

    def __call__(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        """Call the model; asynchronously, if that is what it stands for."""
        holders = (more.get("from_agent"), more.get("from_task"))
        kickoff = self.kickoffs.find_open(*holders)
        if kickoff is None or id(self.llm) in _under_way.get():
            return self._call(messages, *arguments, **more)
        request = _Request(self.llm, kickoff, messages, more)
        if self.name == "acall":
            return self._call_async(request, arguments)
        return self._call_sync(request, arguments)

    def _call_sync(self, request: _Request, arguments: tuple[Any, ...]) -> Any:
        run = request.kickoff.run
        sent = request.apply(run.request_sync(request.plain, **request.details))
        token = _under_way.set(_under_way.get() | {id(self.llm)})
        try:
            answer = self._call(sent, *arguments, **request.more)
        finally:
            _under_way.reset(token)
        reply = request.read(answer)
        return finish(answer, run.review_sync(reply, provider=request.provider))

    async def _call_async(self, request: _Request, arguments: tuple[Any, ...]) -> Any:
        run = request.kickoff.run
        sent = request.apply(await run.request(request.plain, **request.details))
        token = _under_way.set(_under_way.get() | {id(self.llm)})
        try:
            answer = await self._call(sent, *arguments, **request.more)
        finally:
            _under_way.reset(token)
        reply = request.read(answer)
        return finish(answer, await run.review(reply, provider=request.provider))

    def __deepcopy__(self, _: object) -> GovernedCall:
        """A copy of the model gets its own when it is first used."""
        return self


class _Request:
    """One request of a model object."""

    def __init__(self, llm: BaseLLM, kickoff: Kickoff, messages: Any, more: dict[str, Any]) -> None:
        if kickoff.run.has_ended:
            raise HookAborted("the kickoff has ended, so no model is called")
        self.kickoff = kickoff
        self.more = more
        self.provider = str(getattr(llm, "provider", None) or "crewai")
        self._llm = llm
        self._given = messages
        self._messages = list_messages(messages)
        self.plain = [describe_message(one) for one in self._messages]
        self._used, self._started = _count_tokens(llm), time.perf_counter()

    @property
    def details(self) -> dict[str, Any]:
        """What else hooks are told."""
        tools = list_tools(self.more.get("tools"))
        return {"provider": self.provider, "model": str(self._llm.model), "tools": tools}

    def apply(self, verdict: RequestVerdict) -> Any:
        """What to send; HookAborted if nothing is sent."""
        if not verdict.allowed:
            raise HookAborted(verdict.reason)
        return place_back(self._messages, verdict.placed) if verdict.changed else self._given

    def read(self, answer: Any) -> Reply:
        """The reply in plain values."""
        now = _count_tokens(self._llm)
        usage = {key: now[key] - self._used[key] for key in now}
        spent = int((time.perf_counter() - self._started) * 1000)
        return read_reply(answer, str(self._llm.model), usage, spent)


def finish(answer: Any, verdict: ReplyVerdict) -> Any:
    """The reply that goes on; HookAborted if none does."""
    if not verdict.allowed:
        raise HookAborted(verdict.reason)
    if not verdict.changed:
        return answer
    try:
        return write_reply(answer, verdict)
    except ValueError as error:
        why = f"a hook left a reply that cannot be used: {describe_error(error)}"
        raise HookAborted(why) from error


def _count_tokens(llm: BaseLLM) -> dict[str, int]:
    counted = llm.get_token_usage_summary()
    return {
        "input_tokens": counted.prompt_tokens,
        "output_tokens": counted.completion_tokens,
        "total_tokens": counted.total_tokens,
    }


def govern_model(llm: Any, kickoffs: Kickoffs) -> bool:
    """Have the calls of a model object judged; whether it is one."""
    if not isinstance(llm, BaseLLM):
        return False
    for name in ("call", "acall"):
        if not _is_governed(llm, name, kickoffs):
            # In its place, as a cached property would be: other agents keep the same object.
            llm.__dict__[name] = GovernedCall(llm, name, kickoffs)
    return True


def _is_governed(llm: BaseLLM, name: str, kickoffs: Kickoffs) -> bool:
    found = llm.__dict__.get(name)
    while isinstance(found, GovernedCall):
        if found.llm is not llm:  # that of the object which this one is a copy of
            del llm.__dict__[name]
            return False
        if found.kickoffs is kickoffs:
            return True
        found = found._call
    return False


def is_being_judged(llm: Any) -> bool:
    """Whether a call of this model passes the hooks already."""
    return id(llm) in _under_way.get()


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
        name = self._name(context)
        text = str(context.tool_result or "")
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

"""The model objects of agents: each call passes the hooks, with its messages and its reply."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from crewai.hooks import HookAborted
from crewai.llms.base_llm import BaseLLM
from crewai.utilities.agent_utils import extract_tool_call_info, is_tool_call_list
from pydantic import BaseModel

from amplifier_core.utils import describe_error
from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict, RequestVerdict
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
        self.llm, self.name, self.kickoffs = llm, name, kickoffs
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
        self.kickoff, self.more = kickoff, more
        self.provider = str(getattr(llm, "provider", None) or "crewai")
        self._llm, self._given = llm, messages
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

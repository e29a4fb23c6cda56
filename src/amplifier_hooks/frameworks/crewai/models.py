"""The model objects of agents: each call passes the hooks, with its messages and its reply."""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import Any

from crewai.hooks import HookAborted
from crewai.llms.base_llm import BaseLLM

from amplifier_core.utils import describe_error
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict, RequestVerdict
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoff, Kickoffs
from amplifier_hooks.frameworks.crewai.messages import (
    describe_message,
    list_messages,
    list_tools,
    place_back,
    read_reply,
    write_reply,
)

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

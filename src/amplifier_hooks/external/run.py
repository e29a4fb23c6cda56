"""A run of a framework's agent: its events through our hooks, with the answers carried out."""

from __future__ import annotations

import asyncio
import inspect
import threading
import uuid
from collections.abc import Awaitable, Sequence
from contextvars import ContextVar
from typing import Any

from amplifier_core.answers import Outcome, describe_denial
from amplifier_core.models import ToolResult
from amplifier_core.operation import KERNEL
from amplifier_core.payloads import EndReason
from amplifier_core.utils import resolve
from amplifier_hooks.coverage import Coverage
from amplifier_hooks.external.calling import (
    Handler,
    LoopSeat,
    Seat,
    Wanted,
    call_from_thread,
)
from amplifier_hooks.external.handover import (
    USELESS_ANSWER,
    HandOver,
    Handover,
    asked_by_framework,
)
from amplifier_hooks.external.loops import Home
from amplifier_hooks.external.messages import Plain
from amplifier_hooks.external.session import ENDED, ExternalSession
from amplifier_hooks.external.verdicts import (
    Called,
    Reply,
    ReplyVerdict,
    RequestVerdict,
    TextVerdict,
)
from amplifier_hooks.guards.policy.unread_tools import OfferedTool, UnreadTools

inside: ContextVar[Run | None] = ContextVar("amplifier_run", default=None)
"""The run whose tool is being called: an agent that is started there is its sub-agent."""


def enter(run: Run, handler: Handler) -> Handler:
    """The handler, called inside the run; the framework asks about this call only, not about what
    a sub-agent does in it."""

    def call(given: dict[str, Any]) -> Any:
        token = inside.set(run)
        asked = asked_by_framework.set(None)
        try:
            found = handler(given)
        finally:
            asked_by_framework.reset(asked)
            inside.reset(token)
        return _finish_inside(run, found) if inspect.isawaitable(found) else found

    return call


async def _finish_inside(run: Run, found: Awaitable[Any]) -> Any:
    token = inside.set(run)
    asked = asked_by_framework.set(None)
    try:
        return await found
    finally:
        asked_by_framework.reset(asked)
        inside.reset(token)


class Run:
    """One run: everything that its framework wants to do passes through here.

    Each operation has a form for callers on a loop and one, ending in `_sync`, for threads.
    """

    def __init__(
        self,
        session: ExternalSession,
        home: Home,
        coverage: Coverage,
        shown: set[str] | None = None,
    ) -> None:
        self.session = session
        self.coordinator = session.coordinator
        self.coverage = coverage
        self.home = home
        self.governor: object = None
        """Who opened it."""
        self.is_child = False
        """Whether it is the run of a sub-agent."""
        self.is_shared = False
        """Whether it goes on after the framework's run: see `Governor.conversation`."""
        self.met_ungoverned: set[str] = set()
        """Agents without hooks that its tools have started, by name."""
        self.unread = UnreadTools(self.coordinator, shown)
        self._calls = 0
        self._ending = threading.Lock()

    @property
    def has_ended(self) -> bool:
        """Whether the session behind it is over."""
        return self.session.has_ended

    @has_ended.setter
    def has_ended(self, value: bool) -> None:
        self.session.has_ended = value

    @property
    def last_used(self) -> float:
        """When the framework last did something, by the monotonic clock."""
        return self.session.last_used

    @property
    def is_busy(self) -> bool:
        """Whether a call is under way; its person may take long."""
        return self._calls > 0

    def hears(self, event: str) -> bool:
        """Whether anybody would be told of an event; if not, spare the translation."""
        return self.coordinator.is_observed(event)

    # Prompts and answers

    async def submit(self, prompt: str, metadata: dict[str, Any] | None = None) -> TextVerdict:
        """A turn begins: take its prompt through the hooks."""
        return await self.home.run(self._submit(prompt, metadata))

    def submit_sync(self, prompt: str, metadata: dict[str, Any] | None = None) -> TextVerdict:
        return self.home.run_sync(self._submit(prompt, metadata))

    async def _submit(self, prompt: str, metadata: dict[str, Any] | None) -> TextVerdict:
        return await self.session.submit({"prompt": prompt, "metadata": metadata or {}})

    async def answer(self, text: str, *, streamed: bool = False) -> TextVerdict:
        """Take the answer through the hooks before it goes out; `streamed`: somebody read it."""
        return await self.home.run(self.session.answer(text, streamed=streamed))

    def answer_sync(self, text: str, *, streamed: bool = False) -> TextVerdict:
        return self.home.run_sync(self.session.answer(text, streamed=streamed))

    # Models

    async def request(
        self,
        messages: Sequence[Plain],
        *,
        provider: str,
        model: str | None = None,
        tools: Sequence[str | OfferedTool] = (),
        keeps: bool = False,
    ) -> RequestVerdict:
        """Take a request to a model through the hooks; `placed` of the verdict is what to send.

        `tools` are those that the model may call, by their names or with what is known of them.
        `keeps`: the adapter puts `lasting` into the framework's conversation, so that it comes
        back with the next request. Otherwise the run repeats it in its place by itself.
        """
        work = self._request(list(messages), provider, model, list(tools), keeps)
        return await self.home.run(work)

    def request_sync(
        self,
        messages: Sequence[Plain],
        *,
        provider: str,
        model: str | None = None,
        tools: Sequence[str | OfferedTool] = (),
        keeps: bool = False,
    ) -> RequestVerdict:
        work = self._request(list(messages), provider, model, list(tools), keeps)
        return self.home.run_sync(work)

    async def review(self, reply: Reply, *, provider: str) -> ReplyVerdict:
        """Take a reply of a model through the hooks."""
        return await self.home.run(self.session.review(reply, provider=provider))

    def review_sync(self, reply: Reply, *, provider: str) -> ReplyVerdict:
        return self.home.run_sync(self.session.review(reply, provider=provider))

    async def _request(
        self,
        messages: list[Plain],
        provider: str,
        model: str | None,
        tools: list[str | OfferedTool],
        keeps: bool,
    ) -> RequestVerdict:
        if not self.has_ended:
            offered = [one for one in tools if isinstance(one, OfferedTool)]
            await self.unread.report(offered, waits=True)
        names = [one.name if isinstance(one, OfferedTool) else one for one in tools]
        return await self.session.request(
            messages, provider=provider, model=model, tools=names, keeps=keeps
        )

    # Tools

    async def call(self, wanted: Wanted, hand_over: HandOver | None = None) -> Called:
        """Take a tool call through hooks and gates to the framework's handler and back.

        With `hand_over`, people are asked by the framework: it raises its interrupt, or returns
        what `answer` made of the person's choice.
        """
        seat = LoopSeat(asyncio.get_running_loop())
        if hand_over is None:
            return await self.home.run(self._call(wanted, seat))
        handover = Handover(self.coverage.framework)
        while True:
            handover.start_again()
            called = await self.home.run(self._call(wanted, seat, handover))
            if handover.asked is None:
                return called
            given = await resolve(hand_over(handover.asked))
            if (why := handover.take(given)) is not None:
                await self.home.run(self._note_useless(wanted))
                return _refuse_answer(why)

    def call_sync(self, wanted: Wanted, hand_over: HandOver | None = None) -> Called:
        """The same for a thread: it waits, and calls the handler itself."""
        loop = self.home.find_loop_for_thread()
        if hand_over is None:
            return call_from_thread(lambda seat: self._call(wanted, seat), loop)
        handover = Handover(self.coverage.framework)
        while True:
            handover.start_again()
            called = call_from_thread(lambda seat: self._call(wanted, seat, handover), loop)
            if handover.asked is None:
                return called
            if (why := handover.take(hand_over(handover.asked))) is not None:
                self.home.run_sync(self._note_useless(wanted))
                return _refuse_answer(why)

    async def _note_useless(self, wanted: Wanted) -> None:
        """What the framework gave back was no answer, so nothing runs."""
        await self.coordinator.handovers.learn(wanted.call_id, "not_run", USELESS_ANSWER)

    async def _call(self, wanted: Wanted, seat: Seat, handover: Handover | None = None) -> Called:
        if self.has_ended:
            return _refuse_answer(ENDED)
        if not wanted.call_id:
            wanted.call_id = f"call_{uuid.uuid4().hex[:12]}"
        await self.unread.report_call(wanted.name, wanted.arguments)
        token = None if handover is None else asked_by_framework.set(handover)
        self._calls += 1
        try:
            handler = enter(self, wanted.handler)
            return await self.session.call(wanted, seat, handler)
        finally:
            self._calls -= 1
            if token is not None:
                asked_by_framework.reset(token)

    # Everything else

    async def tell(self, event: str, data: dict[str, Any]) -> None:
        """Tell hooks of something that has happened."""
        await self.home.run(self.session.tell(event, data))

    def tell_sync(self, event: str, data: dict[str, Any]) -> None:
        self.home.run_sync(self.session.tell(event, data))

    async def ask(self, event: str, data: dict[str, Any]) -> Outcome:
        """Take any other event through the hooks, such as the start of a sub-agent."""
        return await self.home.run(self.session.judge(event, data))

    async def end(self, reason: EndReason = "complete") -> None:
        """The framework's run is over; one of a conversation goes on."""
        if not self.is_shared:
            await self.finish(reason)

    def end_sync(self, reason: EndReason = "complete") -> None:
        if not self.is_shared:
            self.finish_sync(reason)

    async def finish(self, reason: EndReason = "complete") -> None:
        """End the session behind the run, once; who stops waiting does not stop that."""
        if self._take_end():
            await self.home.run_through(self.session.end(reason))

    def finish_sync(self, reason: EndReason = "complete") -> None:
        if self._take_end():
            self.home.run_sync(self.session.end(reason))

    def _take_end(self) -> bool:
        with self._ending:
            ended = self.has_ended
            self.has_ended = True
        return not ended


def _refuse_answer(why: str) -> Called:
    return Called(ToolResult.refused(describe_denial(KERNEL, why)))

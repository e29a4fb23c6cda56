"""Tool calls of a framework that tells before and after them, and runs the tools by itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from amplifier_core import events
from amplifier_core.answers import describe_denial
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.gatekeeper import digest_operation
from amplifier_core.operation import KERNEL
from amplifier_core.records import DigestMismatch
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.conversation import EventContext
from amplifier_hooks.external.handover import (
    USELESS_ANSWER,
    Handed,
    Handover,
    asked_by_framework,
)
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.session import NOTHING_RUNS
from amplifier_hooks.external.tool_calls import OpenCall
from amplifier_hooks.external.verdicts import Verdict

FindAnswer = Callable[[Handed], Any]
"""Looks for the answer to a question that the framework has been handed."""


class HalfCalls:
    """The two halves of each call of a run, in the way of agents that other programs run.

    Each half has a form for callers on a loop and one, ending in `_sync`, for threads.
    """

    def __init__(self, run: Run, program: str = "") -> None:
        self.run = run
        self._tools = run.session.tools
        if program:
            self._tools.program = program  # as its own records name it
        self._waiting: set[Future[Verdict]] = set()
        self._leaving = threading.Lock()
        self._is_abandoned = False

    @property
    def coordinator(self) -> SessionCoordinator:
        """Of the session behind the run."""
        return self.run.coordinator

    async def before(
        self,
        incoming: Incoming,
        find_answer: FindAnswer | None = None,
        event: EventContext | None = None,
    ) -> Verdict:
        """Judge a call; one that is not denied is recorded as started.

        `event` collects who said what, here and below.

        With `find_answer`, people are asked by the framework: it returns what `answer` made of the
        person's choice, or None if nobody has chosen yet. Then the decision is "defer".
        """
        return await self.run.home.run(self._before(incoming, find_answer, event))

    def before_sync(self, incoming: Incoming) -> Verdict:
        loop = self.run.home.find_loop_for_thread()
        with self._leaving:  # who abandons the run finds every call that has begun
            if self._is_abandoned:
                return Verdict(decision="deny", reason=NOTHING_RUNS)
            waiting = asyncio.run_coroutine_threadsafe(self._before(incoming), loop)
            self._waiting.add(waiting)
        try:
            return waiting.result()
        finally:
            self._waiting.discard(waiting)

    def abandon(self) -> None:
        """The run is over: nobody waits for what is being judged, and no yes comes in time."""
        with self._leaving:
            self._is_abandoned = True
            waiting = tuple(self._waiting)
        for one in waiting:
            one.cancel()

    async def after(self, incoming: Incoming, event: EventContext | None = None) -> Verdict:
        """Record how a call ended, and judge what came of it."""
        return await self.run.home.run(self._after(incoming, event))

    def after_sync(self, incoming: Incoming) -> Verdict:
        return self.run.home.run_sync(self._after(incoming))

    async def fail(self, incoming: Incoming) -> Verdict:
        """Record that a call failed, and tell of it."""
        return await self.run.home.run(self._fail(incoming))

    def fail_sync(self, incoming: Incoming) -> Verdict:
        return self.run.home.run_sync(self._fail(incoming))

    def give_up(self, incoming: Incoming) -> None:
        """Record that a call which was allowed does not run after all."""
        self._tools.give_up(incoming)

    def take_texts(self) -> tuple[str, ...]:
        """What hooks have injected since the last time, for good or for one request."""
        return tuple(self.run.session.take_texts())

    # The halves

    async def _before(
        self,
        incoming: Incoming,
        find_answer: FindAnswer | None = None,
        event: EventContext | None = None,
    ) -> Verdict:
        if self.run.has_ended:
            return Verdict(decision="deny", reason=NOTHING_RUNS)
        await self.run.unread.report_call(incoming.data["tool_name"], incoming.data["tool_input"])
        verdict = await self._judge(incoming, find_answer, event)
        # Somebody may have ended the run while a person thought about the call.
        return Verdict(decision="deny", reason=NOTHING_RUNS) if self.run.has_ended else verdict

    async def _judge(
        self, incoming: Incoming, find_answer: FindAnswer | None, event: EventContext | None
    ) -> Verdict:
        if find_answer is None:
            return await self.run.session.before_tool(incoming, event)
        handover = Handover(self.run.coverage.framework)
        token = asked_by_framework.set(handover)
        try:
            return await self._hand_over(incoming, handover, find_answer, event)
        finally:
            asked_by_framework.reset(token)

    async def _hand_over(
        self,
        incoming: Incoming,
        handover: Handover,
        find_answer: FindAnswer,
        event: EventContext | None,
    ) -> Verdict:
        while True:
            handover.start_again()
            verdict = await self.run.session.before_tool(incoming, event)
            if handover.asked is None:
                return verdict
            given = find_answer(handover.asked)
            if given is None:
                return Verdict(decision="defer", reason=handover.asked.prompt)
            if (why := handover.take(given)) is not None:
                await self._tools.note_not_run(incoming.call_id, USELESS_ANSWER)
                return Verdict(decision="deny", reason=describe_denial(KERNEL, why))

    async def _after(self, incoming: Incoming, event: EventContext | None = None) -> Verdict:
        await self._compare(incoming)
        return await self.run.session.after_tool(incoming, event)

    async def _fail(self, incoming: Incoming) -> Verdict:
        await self._compare(incoming)
        return await self.run.session.after_failure(incoming)

    async def _compare(self, incoming: Incoming) -> None:
        """Record a call that ran with another input than the one that was judged."""
        ran = incoming.data["tool_input"]
        call = self._tools.running.find(incoming.call_id, incoming.data["tool_name"], ran)
        if call is not None and not is_same(dict(ran), call.input):
            await self._tell_mismatch(call, dict(ran))

    async def _tell_mismatch(self, call: OpenCall, ran: dict[str, Any]) -> None:
        named = {"tool_name": call.tool, "tool_call_id": call.id}
        judged, found = (
            digest_operation(events.TOOL_PRE, {**named, "tool_input": one})
            for one in (call.input, ran)
        )
        mismatch = DigestMismatch(approved=judged, found=found, id=call.id)
        self.coordinator.trail.write(mismatch, event=events.TOOL_POST)
        text = (
            f"{call.tool} ran with another input than hooks had judged: something after them in "
            f"{self.run.coverage.framework} has changed it"
        )
        await self.coordinator.show(text, "error", "session")

"""The invocations of a runner that are under way, each with the run of ours behind it."""

from __future__ import annotations

import asyncio
import functools
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

from google.adk.agents.invocation_context import InvocationContext

from amplifier_core.payloads import EndReason
from amplifier_hooks.external.run import Run


@dataclass(slots=True)
class Invocation:
    """One invocation; without a run, its start or its prompt was refused."""

    run: Run | None
    refusal: str
    context: weakref.ref[InvocationContext]
    interrupts: bool = False
    """Whether the framework asks people, and not we."""
    streams: bool = False
    """Whether the caller has read a part of a reply already."""
    forget: Callable[[], object] | None = None
    """Stops watching whether the runner was cancelled."""
    _asked: dict[str, float] = field(default_factory=dict)

    def is_alive(self) -> bool:
        """Whether somebody still waits for it."""
        context = self.context()
        return context is not None and not context.is_aborted

    def start_request(self, agent: str) -> None:
        """An agent is about to ask its model."""
        self._asked[agent] = time.perf_counter()

    def measure_request(self, agent: str) -> int:
        """The milliseconds since then."""
        now = time.perf_counter()
        return int((now - self._asked.pop(agent, now)) * 1000)


class Invocations:
    """Finds the invocation that a callback belongs to, and ends those that nobody ends."""

    def __init__(self) -> None:
        self._open: dict[str, Invocation] = {}

    def find(self, invocation_id: str) -> Invocation | None:
        """The invocation, if it is under way."""
        return self._open.get(invocation_id)

    def add(self, context: InvocationContext, run: Run | None, refusal: str) -> Invocation:
        """An invocation begins."""
        made = Invocation(run, refusal, weakref.ref(context))
        self._open[context.invocation_id] = made
        if run is not None:
            self._watch(context, made)
        return made

    def _watch(self, context: InvocationContext, made: Invocation) -> None:
        """Notice that a runner was cancelled, of which the framework tells no plugin.

        Its task is over then; if somebody catches that and goes on, nobody holds its context.
        """
        abandon = functools.partial(self._abandon, context.invocation_id, made)
        weakref.finalize(context, abandon).atexit = False
        task = asyncio.current_task()
        if task is not None:
            task.add_done_callback(abandon)
            made.forget = functools.partial(task.remove_done_callback, abandon)

    async def end(self, invocation_id: str, reason: EndReason) -> None:
        """An invocation is over."""
        ended = self._open.pop(invocation_id, None)
        if ended is None:
            return
        if ended.forget is not None:
            ended.forget()
        if ended.run is not None:
            await ended.run.end(reason)

    async def end_all(self, reason: EndReason) -> None:
        """The runner is closed."""
        for invocation_id in list(self._open):
            await self.end(invocation_id, reason)

    def _abandon(self, invocation_id: str, left: Invocation, _: object = None) -> None:
        if self._open.get(invocation_id) is not left or left.run is None:
            return
        del self._open[invocation_id]
        run, loop = left.run, left.run.home.loop

        def end() -> None:
            _ending.add(task := loop.create_task(run.end("user_exit")))
            task.add_done_callback(_ending.discard)

        # The garbage collector may call this in any thread; what a closed loop leaves
        # open, the governor ends.
        if not loop.is_closed():
            loop.call_soon_threadsafe(end)


_ending: set[asyncio.Task[None]] = set()

"""Does to a session what was done to the recorded one, process by process."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from amplifier_core.errors import ModuleError
from amplifier_core.events import AGENT_SPAWN
from amplifier_core.session import AmplifierSession
from amplifier_core.tool_call import call_tool, start_call
from amplifier_hooks.agent.loops.model_call import compact_now
from amplifier_hooks.insight.replay.comparison import find_injection
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recorded_calls import read_call
from amplifier_hooks.insight.replay.recording import CannotReplay, Run, Step, list_steps
from amplifier_hooks.trails import RecordedEvent

_POLL = 0.05
"""Seconds that the loop waits at once for threads, which run in real time."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop with a clock of its own, which stands still while something can be done."""

    def __init__(self) -> None:
        self._now = 0.0
        self._threads = 0
        self.on_idle: Callable[[], bool] = lambda: False
        """Called when everybody waits, before time passes; True if it has found something to do."""
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Seconds since the loop was made, most of which never passed."""
        return self._now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> Any:
        """As usual; timers wait for threads as they would elsewhere."""
        future = super().run_in_executor(executor, func, *args)
        self._threads += 1
        future.add_done_callback(self._end_thread)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """As usual, without a limit: it would pass at once while the threads end in real time."""
        await super().shutdown_default_executor()

    def _end_thread(self, _: object) -> None:
        self._threads -= 1

    def wait(self, real: selectors.BaseSelector, timeout: float | None) -> list[Any]:
        """Wait for files as a selector does, or let the time pass at once."""
        if timeout is not None and timeout <= 0:
            return real.select(0)
        if self._threads:
            started = time.monotonic()
            found = real.select(_POLL if timeout is None else min(timeout, _POLL))
            self._now += time.monotonic() - started
            return found
        found = real.select(0)
        if not found and not self.on_idle():
            if timeout is None:
                return real.select(_POLL)
            self._now += timeout
        return found


class _Selector(selectors.BaseSelector):
    """A selector whose waiting is up to the loop."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._real = selectors.DefaultSelector()
        self._loop = loop

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return self._loop.wait(self._real, timeout)

    def close(self) -> None:
        self._real.close()

    def get_map(self) -> Any:
        return self._real.get_map()


State = Mapping[str, Any]
Open = Callable[[State | None], Awaitable[AmplifierSession]]
"""Opens a session of today's plan; the state is what an earlier process of it left."""


class Driver:
    """Takes a replay from its first step to its last, or to the first difference."""

    def __init__(self, playback: Playback, open_session: Open) -> None:
        self._playback = playback
        self._open = open_session
        self._session: AmplifierSession | None = None
        self._step: asyncio.Task[Any] | None = None
        self._states: list[State] = []

    async def drive(self) -> None:
        """Replay all processes of the recording."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualTimeLoop):
            loop.on_idle = self._end_hanging
        self._playback.on_stop = self._break_off
        self._playback.cancel = self._cancel
        for run in self._playback.recording.list_runs():
            if not self._playback.stopped:
                await self._replay(run)

    async def _replay(self, run: Run) -> None:
        self._playback.begin(run)
        try:
            if await self._take(self._start(run)):
                for step in list_steps(run):
                    if not self._playback.is_left(step.event):
                        continue  # a hook did it, as it did then
                    await self._take(self._perform(step))
                    await self._keep_state()
                await self._take(self._end(run))
        finally:
            await self._close()
        self._playback.finish_run()

    async def _take(self, work: Any) -> bool:
        """Do one thing in a task that can be broken off; whether it came to its end."""
        if self._playback.stopped:
            work.close()
            return False
        self._step = asyncio.get_running_loop().create_task(work)
        try:
            await asyncio.wait([self._step])
            if self._step.cancelled():
                return False
            error = self._step.exception()
        finally:
            self._step.cancel()
        if isinstance(error, CannotReplay | ModuleError):
            raise error
        return error is None  # what a turn raises is in the recording as well

    def _end_hanging(self) -> bool:
        """Break off what was broken off then; what a time limit ended is left to that."""
        if not self._playback.hangs:
            return False
        self._break_off()
        return True

    def _break_off(self) -> None:
        if self._step is not None:
            self._step.cancel()

    async def _cancel(self, immediate: bool) -> None:
        if self._session is not None:
            await self._session.coordinator.request_cancel(immediate)

    # Steps

    async def _start(self, run: Run) -> None:
        state = self._choose_state(run) if run.resumed else None
        self._session = await self._open(state)
        await self._session.start()

    def _choose_state(self, run: Run) -> State | None:
        """What the earlier process had saved: the state with as many messages as were resumed."""
        for one in run.items:
            if isinstance(one, RecordedEvent) and one.event == "session:resume":
                count = one.data.get("messages_count")
                fits = [state for state in self._states if len(state["messages"]) == count]
                if fits:
                    return fits[-1]
        if not self._states:
            raise CannotReplay(
                "The trail begins in the middle of a session: what was said before is not in it"
            )
        return self._states[-1]

    async def _perform(self, step: Step) -> None:
        session = self._session
        assert session is not None
        if step.kind == "prompt":
            await session.execute(str(step.data.get("prompt")), step.data.get("metadata") or {})
        elif step.kind == "call":
            await call_tool(session.coordinator, read_call(step.data))
        elif step.kind == "compact":
            await compact_now(session.context)
        elif step.kind == "cancel":
            await session.coordinator.request_cancel(step.data.get("immediate") is True)
        elif step.kind == "late":
            await self._deny_late(session, step)
        else:
            await self._emit(session, step)

    async def _emit(self, session: AmplifierSession, step: Step) -> None:
        """Tell hooks of an event as an application did, or a program that ran the agent."""
        name: Any = step.event.event
        outcome = await session.coordinator.judge(name, step.data)
        if not outcome.allowed:
            return
        if step.kind == "start":
            left = dict(outcome.data or {})
            await start_call(session.coordinator, outcome, left, same_tool=True)
        elif name == AGENT_SPAWN and self._has_told_agent(step.event.session):
            await session.coordinator.inject_answers(AGENT_SPAWN, list(outcome.answers))

    def _has_told_agent(self, session: str) -> bool:
        """Whether the session itself was told what hooks said to a sub-agent."""
        left = self._playback.list_left(session)
        return any(find_injection(one) and one.event == AGENT_SPAWN for one in left)

    async def _deny_late(self, session: AmplifierSession, step: Step) -> None:
        """Deny once more what hooks took too long to judge: the trail does not say what it was."""
        event, hook, why = (str(step.data.get(name)) for name in ("event", "hook", "reason"))
        self._playback.note_doubt(step.event, [f"what hooks had to judge at {event} is missing"])
        await session.coordinator.deny(event, hook, why)

    async def _end(self, run: Run) -> None:
        assert self._session is not None
        suspend = getattr(self._session, "suspend", None)
        if run.end == "suspended" and suspend is not None:
            await suspend()
        elif run.end == "ended":
            reason: Any = run.reason
            await self._session.cleanup(reason)

    async def _keep_state(self) -> None:
        if self._session is not None and not self._playback.stopped:
            self._states.append(await self._session.state())

    async def _close(self) -> None:
        """End the session whatever has happened; nobody compares this."""
        session = self._session
        self._session = None
        if session is None:
            return
        stopped = self._playback.stopped
        self._playback.stopped = True
        with suppress(Exception):
            await session.cleanup()
        self._playback.stopped = stopped

"""One session of another agent: its events through our hooks, and what the agent is to do."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events.payloads import EndReason
from amplifier_core.utils import describe_error
from amplifier_core.utils.waiting import run_with_timeout
from amplifier_foundation.dialects import Dialect
from amplifier_foundation.dialects.incoming import Incoming
from amplifier_foundation.dialects.verdict import Verdict
from amplifier_foundation.guests.sessions.moments import tool_call, turn
from amplifier_foundation.guests.sessions.moments.guest import Guest
from amplifier_foundation.guests.sessions.moments.permission import PERMISSION, ask_permission
from amplifier_foundation.guests.sessions.open_calls import OpenCalls
from amplifier_foundation.guests.sessions.passing import (
    GuestContext,
    GuestDisplay,
    Passing,
    current,
)
from amplifier_foundation.session.assembled import AssembledSession
from amplifier_foundation.session.elsewhere import Elsewhere
from amplifier_foundation.session.resuming.unknown_outcomes import RUNNING_ELSEWHERE

Moment = Callable[[Guest, Incoming, Passing], Awaitable[Verdict]]

STATE = "guest"
STOPPED = "A hook ended the run."
ENDED = "The session ended while this was judged, so there is no record of it."
DEADLINE = "deadline"
"""Who denies what hooks did not judge in time."""
_KEPT_TEXTS = 64
_RELOAD_EVERY = 2.0
_PATIENCE = 10.0

_MOMENTS: dict[str, Moment] = {
    events.TOOL_PRE: tool_call.before_tool,
    events.TOOL_POST: tool_call.after_tool,
    events.TOOL_ERROR: tool_call.after_failure,
    events.PROMPT_SUBMIT: turn.take_prompt,
    events.ORCHESTRATOR_COMPLETE: turn.end_turn,
    events.AGENT_SPAWN: turn.start_agent,
    events.SESSION_START: turn.start_again,
    PERMISSION: ask_permission,
}


class GuestSession:
    """Takes the events of one agent session, several at once if the agent does that."""

    def __init__(
        self,
        dialect: Dialect,
        session: AssembledSession,
        context: GuestContext,
        display: GuestDisplay,
        people: Elsewhere | None = None,
    ) -> None:
        self.dialect = dialect
        self.session = session
        self.people = people
        self.calls = OpenCalls()
        self.blocked_stops = 0
        self.last_used = time.monotonic()
        self._context = context
        self._display = display
        self._texts: list[str] = []
        self._notes: list[str] = []
        self._under_way = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._has_ended = False
        self._checked = 0.0
        self._load_state()
        session.coordinator.register_capability("session.keep_working", _keep_working)

    @property
    def coordinator(self) -> SessionCoordinator:
        """Of the session behind it."""
        return self.session.coordinator

    @property
    def is_busy(self) -> bool:
        """Whether an event is being handled."""
        return self._under_way > 0

    async def handle(
        self, incoming: Incoming, dialect: Dialect | None = None, seconds: float | None = None
    ) -> Verdict:
        """Take one event through the hooks; the verdict is what the agent is to do.

        `dialect` is the form of this event, if it is not the one that the session began with.
        What is not judged within so many seconds is denied, and the trail says so.
        """
        self.last_used = time.monotonic()
        await self._reload_if_changed(incoming)
        row = (dialect or self.dialect).events[incoming.native]
        passing = Passing(row.powers)
        token = current.set(passing)
        self._begin()
        try:
            take = _MOMENTS.get(incoming.event, turn.pass_on)
            async with asyncio.timeout(seconds) as limit:
                verdict = await take(self, incoming, passing)
        except TimeoutError:
            if not limit.expired():
                raise
            verdict = await self._end_late(incoming, seconds, gate=row.gate)
        finally:
            self._finish()
            current.reset(token)
        if self.coordinator.cancellation.is_cancelled:
            verdict = replace(verdict, stop=STOPPED)
        verdict = self._add_what_waits(verdict, passing)
        unrecorded = ENDED if self._has_ended else await self._put_on_disk()
        if unrecorded is not None and row.gate:
            return replace(verdict, decision="deny", reason=unrecorded)
        return verdict

    async def _end_late(self, incoming: Incoming, seconds: float | None, *, gate: bool) -> Verdict:
        reason = f"the hooks did not answer within {seconds or 0:.1f} seconds"
        outcome = await self.coordinator.deny(incoming.event, DEADLINE, reason)
        return Verdict(decision="deny", reason=outcome.denial) if gate else Verdict()

    async def _put_on_disk(self) -> str | None:
        """Keep what was judged before the agent acts on it; returns why not, if that is fatal."""
        trail = self.coordinator.trail
        try:
            await run_with_timeout(trail.sink.commit(), _PATIENCE)
        except Exception as error:  # noqa: BLE001 - not on disk, whatever it was
            why = f"The audit trail takes no records: {describe_error(error)}"
            return why if trail.sink.on_failure != "warn" else None
        return None

    async def _reload_if_changed(self, incoming: Incoming) -> None:
        """Use changed files that a person has trusted, when nothing is under way."""
        reloader, now = self.session.reloader, time.monotonic()
        due = incoming.event == events.PROMPT_SUBMIT or now - self._checked > _RELOAD_EVERY
        if reloader is None or self._under_way or not due:
            return
        self._checked = now
        self._begin()
        try:
            await self.session.check_files()
        finally:
            self._finish()

    def _begin(self) -> None:
        self._under_way += 1
        self._is_idle.clear()

    def _finish(self) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._is_idle.set()

    def _add_what_waits(self, verdict: Verdict, passing: Passing) -> Verdict:
        """Give the agent what hooks said, or keep it for the next event where that is possible."""
        ephemeral = self.coordinator.take_ephemeral()
        texts = [*self._context.take_early(), *verdict.context, *passing.texts]
        self._texts += [*texts, *(str(one.get("content") or "") for one in ephemeral)]
        self._notes += [*self._display.take_early(), *passing.notes]
        context: tuple[str, ...] = ()
        notes: tuple[str, ...] = ()
        if "inject" in passing.powers:
            context, self._texts = tuple(self._texts), []
        if "tell" in passing.powers:
            notes, self._notes = tuple(self._notes), []
        del self._texts[:-_KEPT_TEXTS], self._notes[:-_KEPT_TEXTS]
        return replace(verdict, context=context, notes=notes)

    def count_tool_call(self) -> None:
        """For the figures of the session."""
        self.session.stats["tool_invocations"] += 1

    # State

    async def read_state(self) -> dict[str, Any]:
        """Everything another process needs to go on."""
        own = {
            "calls": self.calls.save(),
            "texts": self._texts,
            "notes": self._notes,
            "blocked_stops": self.blocked_stops,
            "injected": self.coordinator.injection_budget,
        }
        kept = self.coordinator.session_state
        kept[STATE], kept[RUNNING_ELSEWHERE] = own, self.calls.list_ids()
        return await self.session.state()

    def _load_state(self) -> None:
        saved = self.coordinator.session_state.get(STATE)
        if not isinstance(saved, dict):
            return
        self.calls.load(saved.get("calls"))
        self._texts += _read_texts(saved.get("texts"))
        self._notes += _read_texts(saved.get("notes"))
        stops, injected = saved.get("blocked_stops"), saved.get("injected")
        self.blocked_stops = stops if isinstance(stops, int) else 0
        if isinstance(injected, int):
            self.coordinator.injection_budget = injected

    # End

    async def settle(self, seconds: float) -> None:
        """Wait until nothing is under way, but not longer than that."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_idle.wait()

    async def end(self, reason: EndReason) -> None:
        """The agent's session is over."""
        self._has_ended = True
        token = current.set(Passing())
        try:
            await self.session.cleanup(reason)
        finally:
            current.reset(token)

    async def suspend(self) -> None:
        """Another process will go on with it: nothing ends but this."""
        self._has_ended = True
        if self.people is not None:
            self.people.leave_open()
        await self.session.suspend()


def _keep_working(reason: str) -> None:
    passing = current.get()
    if passing is not None:
        passing.go_on.append(reason)


def _read_texts(values: Any) -> list[str]:
    return [one for one in values or () if isinstance(one, str)] if isinstance(values, list) else []

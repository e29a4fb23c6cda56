"""An operation: one event on its way through hooks and gates to its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol

from amplifier_core import output
from amplifier_core.approval.passage import UNASKED, Answered, Clearance, Passage, digest_operation
from amplifier_core.dispatch import Answer, Dispatch, Follow, Watch, run_through
from amplifier_core.events import AGENT_SPAWN, notifications
from amplifier_core.events.data import normalize_data
from amplifier_core.hooks import HookRegistry
from amplifier_core.injection.budget import Injection
from amplifier_core.isolation import detach
from amplifier_core.models.outcome import ASKED_ELSEWHERE, Outcome, allow
from amplifier_core.records import HookFinished, HookStarted
from amplifier_core.registration import HookHandler
from amplifier_core.trail import Trail
from amplifier_core.utils.slots import take_slot

# How often one operation may be edited or judged again before it is denied.
MOST_ROUNDS = 8

# Why whoever gives the same edit to the same hook again is not asked a third time.
SAME_EDIT = "the same edit was given twice and did not settle it"

# Who denies when no hook did.
KERNEL = "kernel"


class Effects(Protocol):
    """What an operation has carried out by others."""

    async def show_answers(
        self, event: str, answers: list[Answer], printed: Mapping[HookHandler, str]
    ) -> None: ...
    async def inject_answers(
        self, event: str, answers: list[Answer], keep_ephemeral: bool = True
    ) -> list[Injection]: ...
    async def report_troubles(self, run: Dispatch) -> None: ...
    async def tell_news(self) -> None: ...
    async def deny(self, event: str, hook: str, reason: str) -> Outcome: ...


@dataclass(slots=True)
class Operations:
    """Takes the events of one session to their outcomes."""

    hooks: HookRegistry
    passage: Passage
    trail: Trail
    effects: Effects
    # Makes, for each dispatch, whoever else looks on while hooks run.
    watch_with: Callable[[], Watch] | None = None

    async def judge(self, event: str, data: Mapping[str, Any] | None) -> Outcome:
        """Dispatch an event and carry out every answer; the data is a copy nobody else holds."""
        given = detach(data if type(data) is dict else normalize_data(data))
        if event in notifications or not self.hooks.hears(event):
            spoken = await self.notify(event, given)
            told = allow({**self.hooks.default_fields, **given})
            return told._replace(answers=tuple(spoken)) if spoken else told
        run = await self._dispatch(event, given)
        if not run.spoken:
            return allow(run.data)
        clearance = UNASKED
        if run.denied or run.asking:
            run, clearance = await self.clear(run)
        # What hooks say at a sub-agent's start is meant for the sub-agent: see `Outcome.answers`.
        if event != AGENT_SPAWN or not clearance.allowed:
            await self.effects.inject_answers(event, run.spoken)
        return (await self.conclude(run, clearance))._replace(answers=tuple(run.spoken))

    async def notify(self, event: str, data: Mapping[str, Any]) -> list[Answer]:
        """Tell of something that has happened; nothing that a hook answers can undo it."""
        if not self.hooks.hears(event):
            if self.trail.records:
                self.trail.record_unheard(event, data)
            if self.trail.news:
                await self.effects.tell_news()
            return []
        run = await self._dispatch(event, data)
        if run.spoken:
            await self.effects.inject_answers(event, run.spoken)
        return run.spoken

    async def clear(self, run: Dispatch, *, fixed: bool = False) -> tuple[Dispatch, Clearance]:
        """Take a dispatch through its gates; after each wait it is judged again, as it is then.

        `fixed` means that nothing can be changed any more: what was shown may run, or nothing.
        """
        answered: Answered = {}
        comments: tuple[str, ...] = ()
        edits: list[tuple[str, str]] = []  # at which hook, and the digest of what it made
        handed_over = False
        for _ in range(MOST_ROUNDS):
            repeated = len(edits) > len(set(edits))
            clearance = await self.passage.clear(run, answered, SAME_EDIT if repeated else "")
            comments += clearance.comments
            if not clearance.allowed:
                return run, replace(clearance, comments=comments)
            handed_over = handed_over or clearance.handed_over
            if not self._is_stale(run, clearance):
                passed = replace(clearance, comments=comments, handed_over=handed_over)
                return run, _refuse(ASKED_ELSEWHERE) if fixed and handed_over else passed
            given, shown = _take_edit(run, clearance)
            if fixed and shown != clearance.digest:
                return run, _refuse("it cannot be edited any more")
            if clearance.edited_input is not None:
                edits.append((clearance.hook, shown))
            await take_slot()
            run = await self._dispatch(run.event, given, run)
            if not run.denied and digest_operation(run.event, run.data) != shown:
                answered.clear()  # the person has not seen this
                if fixed or not run.asking:
                    return run, _refuse("it was changed while it waited for approval")
        return run, _refuse(f"the operation was changed more than {MOST_ROUNDS} times")

    def _is_stale(self, run: Dispatch, clearance: Clearance) -> bool:
        """Whether time has passed since the hooks judged what a person has allowed."""
        if not (clearance.digest and run.plan.entries):
            return clearance.edited_input is not None
        return clearance.waited or self.hooks.handlers_for(run.event) != run.handlers

    async def conclude(self, run: Dispatch, clearance: Clearance) -> Outcome:
        """What became of an operation that came through its gates, or did not."""
        if not clearance.allowed:
            if clearance.handed_over:  # denied by nobody: it waits for an answer
                return Outcome(False, None, clearance.hook, clearance.reason, handed_over=True)
            await self.passage.withdraw(run)
            denied = await self.effects.deny(run.event, clearance.hook, clearance.reason)
            return denied._replace(data=run.spoken[-1].result.data) if run.denied else denied
        return Outcome(
            True,
            run.data,
            digest=clearance.digest,
            comments=clearance.comments,
            handed_over=clearance.handed_over,
        )

    # Running hooks

    async def _dispatch(
        self, event: str, data: Mapping[str, Any], before: Dispatch | None = None
    ) -> Dispatch:
        """Run the hooks of an event, or judge again what they were told of `before`."""
        trail = self.trail
        is_seen = self.watch_with is not None or (trail.records and trail.records_each_hook)
        watch = _Witness(self.watch_with and self.watch_with(), trail, event) if is_seen else None
        run = self.hooks._begin(event, data, before is None)
        printed: dict[HookHandler, str] = {}
        run.printed = printed
        outside = output.running.get()
        output.install()
        try:
            await run_through(run, watch, before)
        finally:
            output.remove()
            output.running.set(outside)
        if run.spoken or printed:
            news = (run.spoken, printed) if before is None else _list_news(run, printed, before)
            await self.effects.show_answers(event, *news)
        if trail.records:
            trail.record_dispatch(run, before is not None)
        if run.troubles or run.shadowed or (run.spoken and run.ignored):
            await self.effects.report_troubles(run)
        if trail.news:
            await self.effects.tell_news()
        return run


def _refuse(reason: str) -> Clearance:
    return Clearance(False, KERNEL, reason)


def _take_edit(run: Dispatch, clearance: Clearance) -> tuple[dict[str, Any], str]:
    """What is judged again, and the digest of what a person has seen of it."""
    if clearance.edited_input is None:
        return run.given, clearance.digest
    # From here on this is the operation: nothing goes back to what was edited away.
    edited = {**run.data, "tool_input": detach(clearance.edited_input)}
    return edited, digest_operation(run.event, edited)


def _list_news(
    run: Dispatch, printed: Mapping[HookHandler, str], before: Dispatch
) -> tuple[list[Answer], dict[HookHandler, str]]:
    """What the person has not been shown yet of an operation that was judged again."""
    shown = {(one.handler, one.result.user_message) for one in before.spoken}
    answers = [one for one in run.spoken if (one.handler, one.result.user_message) not in shown]
    heard = set(before.handlers)
    return answers, {one: text for one, text in printed.items() if one not in heard}


class _Witness:
    """Records when each hook begins and ends, and lets somebody else look on."""

    __slots__ = ("_event", "_other", "_started", "_trail")

    def __init__(self, other: Watch | None, trail: Trail, event: str) -> None:
        self._other = other
        self._trail = trail if trail.records and trail.records_each_hook else None
        self._event = event
        self._started: dict[int, float] = {}

    def begin(self, handler: HookHandler) -> Follow | None:
        if self._trail is not None:
            printing = output.release()  # what the trail prints is not the hook's
            self._trail.write(HookStarted(), event=self._event, handler=handler)
            output.restore(printing)
            self._started[handler.id] = perf_counter()
        # Whoever else looks on sees one hook at a time.
        return None if self._other is None or handler.parallel else self._other.begin(handler)

    def end(self, handler: HookHandler) -> None:
        if self._trail is not None:
            spent = perf_counter() - self._started[handler.id]
            body = HookFinished(ms=round(spent * 1000, 3))
            self._trail.write(body, event=self._event, handler=handler)
        if self._other is not None and not handler.parallel:
            self._other.end(handler)

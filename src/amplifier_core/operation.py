"""An operation: one event on its way through hooks and gates to its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol

from amplifier_core.answers import ASKED_ELSEWHERE, Outcome
from amplifier_core.dispatch import Answer, Dispatch, Follow, Watch
from amplifier_core.events import AGENT_SPAWN, notifications
from amplifier_core.gatekeeper import (
    UNASKED,
    Answered,
    ApprovalResult,
    Gatekeeper,
    digest_operation,
)
from amplifier_core.hooks import HookRegistry
from amplifier_core.injection import Injection
from amplifier_core.output import Routing, Uncaptured
from amplifier_core.payloads import normalize_data
from amplifier_core.records import HookFinished, HookStarted
from amplifier_core.registration import HookHandler
from amplifier_core.trail import Trail
from amplifier_core.utils.copying import detach
from amplifier_core.utils.slots import take_slot

# How often one operation may be edited or judged again before it is denied.
MOST_ROUNDS = 8

# The reason for refusing a third question when the same edit was given twice.
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
    async def report_problems(self, run: Dispatch) -> None: ...
    async def show_pending_messages(self) -> None: ...
    async def deny(self, event: str, hook: str, reason: str) -> Outcome: ...


@dataclass(slots=True)
class Operations:
    """Takes the events of one session to their outcomes."""

    hooks: HookRegistry
    gatekeeper: Gatekeeper
    trail: Trail
    effects: Effects
    # Makes another observer of the hooks for each dispatch.
    watch_with: Callable[[], Watch] | None = None

    async def judge(self, event: str, data: Mapping[str, Any] | None) -> Outcome:
        """Dispatch an event and carry out every answer; the returned data is a private copy."""
        given = detach(normalize_data(data))
        if event in notifications:
            answers = await self.notify(event, given)
            told = {**self.hooks.default_fields, **given}
            return Outcome(True, told, answers=tuple(answers))
        if not self.hooks.has_listeners(event):
            if self.trail.records or self.trail.pending_messages:
                await self.record_only(event, given)
            return Outcome(True, {**self.hooks.default_fields, **given})
        run = await self._dispatch(event, given)
        if not run.answers:
            return Outcome(True, run.data)
        approval = UNASKED
        if run.denied or run.asking:
            run, approval = await self.ask_for_approval(run)
        # What hooks say at a sub-agent's start is meant for the sub-agent: see `Outcome.answers`.
        if event != AGENT_SPAWN or not approval.allowed:
            await self.effects.inject_answers(event, run.answers)
        outcome = await self.conclude(run, approval)
        return outcome._replace(answers=tuple(run.answers))

    async def notify(self, event: str, data: Mapping[str, Any]) -> list[Answer]:
        """Tell of something that has happened; nothing that a hook answers can undo it."""
        if not self.hooks.has_listeners(event):
            if self.trail.records or self.trail.pending_messages:
                await self.record_only(event, data)
            return []
        run = await self._dispatch(event, data)
        if run.answers:
            await self.effects.inject_answers(event, run.answers)
        return run.answers

    async def record_only(self, event: str, data: Mapping[str, Any]) -> None:
        """Record an event that no hook listens to."""
        if self.trail.records:
            self.trail.record_without_dispatch(event, data)
        if self.trail.pending_messages:
            await self.effects.show_pending_messages()

    async def ask_for_approval(
        self, run: Dispatch, *, fixed: bool = False
    ) -> tuple[Dispatch, ApprovalResult]:
        """Take a dispatch through its gates; after each wait it is judged again, as it is then.

        `fixed` means that nothing can be changed any more: what was shown may run, or nothing.
        """
        answered: Answered = {}
        comments: tuple[str, ...] = ()
        edits: list[tuple[str, str]] = []  # at which hook, and the digest of what it made
        handed_over = False
        for _ in range(MOST_ROUNDS):
            repeated = len(edits) > len(set(edits))
            approval = await self.gatekeeper.approve(run, answered, SAME_EDIT if repeated else "")
            comments += approval.comments
            if not approval.allowed:
                return run, replace(approval, comments=comments)
            handed_over = handed_over or approval.handed_over
            if not self._is_stale(run, approval):
                passed = replace(approval, comments=comments, handed_over=handed_over)
                return run, _refuse(ASKED_ELSEWHERE) if fixed and handed_over else passed
            given, shown = _apply_edit(run, approval)
            if fixed and shown != approval.digest:
                return run, _refuse("it cannot be edited any more")
            if approval.edited_input is not None:
                edits.append((approval.hook, shown))
            await take_slot()
            run = await self._dispatch_again(run, given)
            if not run.denied and digest_operation(run.event, run.data) != shown:
                answered.clear()  # the person has not seen this
                if fixed or not run.asking:
                    return run, _refuse("it was changed while it waited for approval")
        return run, _refuse(f"the operation was changed more than {MOST_ROUNDS} times")

    def _is_stale(self, run: Dispatch, approval: ApprovalResult) -> bool:
        """Whether time has passed since the hooks judged what a person has allowed."""
        if not (approval.digest and run.handlers):
            return approval.edited_input is not None
        return approval.waited or self.hooks.handlers_for(run.event) != run.handlers

    async def conclude(self, run: Dispatch, approval: ApprovalResult) -> Outcome:
        """What became of an operation that came through its gates, or did not."""
        if not approval.allowed:
            if approval.handed_over:  # not denied: it waits for an answer
                return Outcome(False, None, approval.hook, approval.reason, handed_over=True)
            await self.gatekeeper.withdraw(run)
            denied = await self.effects.deny(run.event, approval.hook, approval.reason)
            if run.denied:
                return denied._replace(data=run.answers[-1].result.data)
            return denied
        return Outcome(
            True,
            run.data,
            digest=approval.digest,
            comments=approval.comments,
            handed_over=approval.handed_over,
        )

    # Running hooks

    async def _dispatch(self, event: str, data: Mapping[str, Any]) -> Dispatch:
        """Run the hooks of an event, and show and record what they did."""
        with Routing():
            run = await self.hooks.dispatch(event, data, self._make_watch(event), keep_output=True)
        await self._show(run, run.answers, run.printed or {})
        return run

    async def _dispatch_again(self, before: Dispatch, data: dict[str, Any]) -> Dispatch:
        """Judge an operation once more, and show and record what is new."""
        watch = self._make_watch(before.event)
        with Routing():
            run = await self.hooks.dispatch_again(before, data, watch, keep_output=True)
        await self._show(run, *_find_unshown(run, before), again=True)
        return run

    def _make_watch(self, event: str) -> Watch | None:
        other = None if self.watch_with is None else self.watch_with()
        trail = self.trail if self.trail.records and self.trail.records_each_hook else None
        if other is None and trail is None:
            return None
        return _Witness(other, trail, event)

    async def _show(
        self,
        run: Dispatch,
        answers: list[Answer],
        printed: Mapping[HookHandler, str],
        *,
        again: bool = False,
    ) -> None:
        if answers or printed:
            await self.effects.show_answers(run.event, answers, printed)
        if self.trail.records:
            self.trail.record_dispatch(run, again)
        if run.has_news:
            await self.effects.report_problems(run)
        if self.trail.pending_messages:
            await self.effects.show_pending_messages()


def _refuse(reason: str) -> ApprovalResult:
    return ApprovalResult(False, KERNEL, reason)


def _apply_edit(run: Dispatch, approval: ApprovalResult) -> tuple[dict[str, Any], str]:
    """What is judged again, and the digest of what a person has seen of it."""
    if approval.edited_input is None:
        return run.given, approval.digest
    # From here on this is the operation: nothing goes back to what was edited away.
    edited = {**run.data, "tool_input": detach(approval.edited_input)}
    return edited, digest_operation(run.event, edited)


def _find_unshown(run: Dispatch, before: Dispatch) -> tuple[list[Answer], dict[HookHandler, str]]:
    """What the person has not been shown yet of an operation that was judged again."""
    shown = {(one.handler, one.result.user_message) for one in before.answers}
    answers = [one for one in run.answers if (one.handler, one.result.user_message) not in shown]
    known = set(before.handlers)
    printed = run.printed or {}
    return answers, {one: text for one, text in printed.items() if one not in known}


class _Witness:
    """Records when each hook begins and ends, and tells another observer.

    The other observer sees one hook at a time.
    """

    def __init__(self, other: Watch | None, trail: Trail | None, event: str) -> None:
        self._other = other
        self._trail = trail
        self._event = event
        self._started: dict[int, float] = {}

    def begin(self, handler: HookHandler) -> Follow | None:
        if self._trail is not None:
            with Uncaptured():  # what the trail prints is not the hook's
                self._trail.write(HookStarted(), event=self._event, handler=handler)
            self._started[handler.id] = perf_counter()
        if self._other is None or handler.parallel:
            return None
        return self._other.begin(handler)

    def end(self, handler: HookHandler) -> None:
        if self._trail is not None:
            spent = perf_counter() - self._started[handler.id]
            body = HookFinished(ms=round(spent * 1000, 3))
            self._trail.write(body, event=self._event, handler=handler)
        if self._other is not None and not handler.parallel:
            self._other.end(handler)

"""An operation: one event on its way through hooks and gates to its outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from amplifier_core import output
from amplifier_core.approval.passage import Answered, Clearance, Passage, digest_operation
from amplifier_core.dispatch import Answer, Dispatch, Follow, Watch
from amplifier_core.events import is_notification
from amplifier_core.hooks import HookRegistry, normalize_data
from amplifier_core.injection.budget import Injection
from amplifier_core.isolation import detach
from amplifier_core.models import HookResult, continue_with, replace_fields
from amplifier_core.registration import HookHandler
from amplifier_core.trail import Trail
from amplifier_core.utils import describe_error, run_with_timeout

logger = logging.getLogger(__name__)

# How often one operation may be edited or judged again before it is denied.
MOST_ROUNDS = 8

# Who denies when no hook did.
KERNEL = "kernel"


class Outcome(NamedTuple):
    """What became of an operation, and why."""

    allowed: bool
    data: dict[str, Any] | None = None
    hook: str = ""
    reason: str = ""
    digest: str = ""
    """Of what a person allowed; empty when nobody was asked."""
    comments: tuple[str, ...] = ()
    """What people said when they allowed it."""

    @property
    def denial(self) -> str:
        """The sentence that the agent reads of a denied operation."""
        return describe_denial(self.hook or "a hook", self.reason)

    def to_result(self) -> HookResult:
        """The outcome as the public face tells it: `continue` with the data, or `deny`."""
        if not self.allowed:
            return HookResult(action="deny", reason=self.reason, data=self.data)
        result = continue_with(self.data)
        return replace_fields(result, reason="; ".join(self.comments)) if self.comments else result


def describe_denial(hook: str, reason: str) -> str:
    """What the agent reads of an operation that somebody denied."""
    return f"Operation denied by {hook}: {reason or 'no reason given'}"


class Effects(Protocol):
    """What an operation has carried out by others."""

    async def show_answers(self, run: Dispatch, printed: Mapping[HookHandler, str]) -> None: ...
    async def inject_answers(
        self, event: str, answers: list[Answer], keep_ephemeral: bool = True
    ) -> list[Injection]: ...
    async def tell_of_trail(self) -> None: ...
    async def deny(self, event: str, hook: str, reason: str) -> Outcome: ...


@dataclass(slots=True)
class Operations:
    """Takes the events of one session to their outcomes."""

    hooks: HookRegistry
    passage: Passage
    trail: Trail
    effects: Effects
    watch_with: Callable[[], Watch] | None = None
    """Makes, for each dispatch, whoever else looks on while hooks run."""

    async def judge(self, event: str, data: Mapping[str, Any] | None) -> Outcome:
        """Dispatch an event and carry out every answer; the data is a copy nobody else holds."""
        given = detach(data if type(data) is dict else normalize_data(data))
        if is_notification(event):
            await self.notify(event, given)
            return Outcome(True, {**self.hooks.default_fields, **given})
        if not self.hooks.hears(event):
            await self._record_unheard(event, given)
            return Outcome(True, {**self.hooks.default_fields, **given})
        run = await self._dispatch(event, given)
        if not run.spoken:
            return Outcome(True, run.data)
        return await self._settle(run, given)

    async def notify(self, event: str, data: Mapping[str, Any]) -> None:
        """Tell of something that has happened; nothing that a hook answers can undo it."""
        if not self.hooks.hears(event):
            await self._record_unheard(event, data)
            return
        run = await self._dispatch(event, data)
        if run.spoken:
            await self.effects.inject_answers(event, run.spoken)

    async def _settle(self, run: Dispatch, given: dict[str, Any]) -> Outcome:
        """Ask for what the hooks left of it; again, if it or the policy is changed meanwhile."""
        answered: Answered = set()
        comments: tuple[str, ...] = ()
        for _ in range(MOST_ROUNDS):
            clearance = await self.passage.clear(run, answered)
            comments += clearance.comments
            if clearance.edited_input is not None:
                # From here on this is the operation: nothing goes back to what was edited away.
                given = {**run.data, "tool_input": detach(clearance.edited_input)}
                run = await self._dispatch(run.event, given)
            elif clearance.allowed and answered and await self._changed_meanwhile(run):
                run = await self._dispatch(run.event, given)
                if digest_operation(run.event, run.data) != clearance.digest:
                    answered.clear()  # the person has not seen this
            else:
                await self.effects.inject_answers(run.event, run.spoken)
                return await self.conclude(run, replace(clearance, comments=comments), answered)
        reason = f"the operation was changed more than {MOST_ROUNDS} times"
        return await self.effects.deny(run.event, KERNEL, reason)

    async def conclude(self, run: Dispatch, clearance: Clearance, answered: Answered) -> Outcome:
        """What became of an operation that came through its gates, or did not."""
        if not clearance.allowed:
            denied = await self.effects.deny(run.event, clearance.hook, clearance.reason)
            return denied._replace(data=run.spoken[-1].result.data) if run.denied else denied
        if not answered:
            return Outcome(True, run.data)
        return Outcome(True, run.data, digest=clearance.digest, comments=clearance.comments)

    # Running hooks

    async def _dispatch(self, event: str, data: Mapping[str, Any]) -> Dispatch:
        trail = self.trail
        other = None if self.watch_with is None else self.watch_with()
        watch = _Timer(other, trail, event) if trail.records else _Capture(other)
        if not output.is_installed():
            output.install()
        before = output.running.get()
        try:
            run = await self.hooks.dispatch(event, data, watch)
        finally:
            output.running.set(before)
        if run.spoken or watch.printed:
            await self.effects.show_answers(run, watch.printed)
        if trail.records:
            trail.record_dispatch(run, watch.durations)
            if trail.news:
                await self.effects.tell_of_trail()
        return run

    async def _record_unheard(self, event: str, data: Mapping[str, Any]) -> None:
        if self.trail.records:
            self.trail.record_unheard(event, data)
            if self.trail.news:
                await self.effects.tell_of_trail()

    async def _changed_meanwhile(self, run: Dispatch) -> bool:
        """Whether the hooks, or what an asking guard has to say, changed while a person thought."""
        if self.hooks.handlers_for(run.event) != run.handlers:
            return True
        for answer in run.asking:
            if answer.handler.is_guard and await _changes_its_mind(answer, run):
                return True
        return False


async def _changes_its_mind(answer: Answer, run: Dispatch) -> bool:
    guard, before, held = answer.handler, output.running.get(), output.Holder()
    output.running.set(held)
    try:
        now = await run_with_timeout(guard.execute(run.event, detach(run.data)), None)
    except Exception as error:  # noqa: BLE001 - judged like any failing guard
        logger.warning("Guard '%s' failed: %s", guard.name, describe_error(error))
        return True
    finally:
        output.end(held)
        output.running.set(before)
    return now.action == "deny" or now.approval_prompt != answer.result.approval_prompt


class _Capture:
    """Keeps what each hook prints while it runs, and lets somebody else look on."""

    __slots__ = ("_holder", "_other", "printed")

    durations: Mapping[int, float] = {}

    def __init__(self, other: Watch | None) -> None:
        self._other = other
        self.printed: dict[HookHandler, str] = {}

    def begin(self, handler: HookHandler) -> Follow | None:
        self._holder: output.Holder = []
        output.running.set(self._holder)
        return None if self._other is None else self._other.begin(handler)

    def end(self, handler: HookHandler) -> None:
        if self._other is not None:
            self._other.end(handler)
        if self._holder:
            self.printed[handler] = output.end(self._holder)
        else:
            self._holder.append(None)  # closed: what its tasks print later is not its output


class _Timer(_Capture):
    """Takes each hook's time as well, and records its start and end where that is wanted."""

    __slots__ = ("_event", "_started", "_trail", "durations")

    def __init__(self, other: Watch | None, trail: Trail, event: str) -> None:
        super().__init__(other)
        self._trail = trail
        self._event = event
        self.durations: dict[int, float] = {}

    def begin(self, handler: HookHandler) -> Follow | None:
        if self._trail.records_each_hook:
            self._trail.write("hook_started", {}, event=self._event, handler=handler)
        self._started = perf_counter()
        return super().begin(handler)

    def end(self, handler: HookHandler) -> None:
        seconds = self.durations[handler.id] = perf_counter() - self._started
        super().end(handler)
        if self._trail.records_each_hook:
            body = {"ms": round(seconds * 1000, 3)}
            self._trail.write("hook_finished", body, event=self._event, handler=handler)

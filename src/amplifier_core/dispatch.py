"""A dispatch: one event on its way through its hooks, with every answer kept apart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextvars import ContextVar
from time import perf_counter
from types import CoroutineType
from typing import Any

from amplifier_core.errors import HookDepthExceeded, HookTimeout, InvalidHookResult
from amplifier_core.events import notifications
from amplifier_core.isolation import copy_plain, detach
from amplifier_core.models import CONTINUE, HookResult, attach_origin, continue_with
from amplifier_core.models.advice import DENIED_BY as DENIED_BY
from amplifier_core.models.advice import IN_PLACE, NO_SAY, PINNED, find_omission
from amplifier_core.models.advice import JUDGED_AGAIN as JUDGED_AGAIN
from amplifier_core.models.answer import Answer as Answer
from amplifier_core.models.answer import Trouble, explain_unusable, keep_change, read_answer
from amplifier_core.models.outcome import withdraw
from amplifier_core.output import Holder, running
from amplifier_core.plan import Plan, PlanEntry
from amplifier_core.precedence import fold, strongest
from amplifier_core.registration import Follow as Follow
from amplifier_core.registration import HookHandler
from amplifier_core.registration import Watch as Watch
from amplifier_core.utils import is_awaitable, is_being_cancelled
from amplifier_core.utils.copying import adopt, is_equal
from amplifier_core.utils.describe import describe_cause

logger = logging.getLogger(__name__)

# Emits nested deeper than this are a failed hook.
MAX_DEPTH = 16

FAILURES = (Exception, asyncio.CancelledError)

# How many emits the running code is inside of.
depth: ContextVar[int] = ContextVar("amplifier_hook_depth", default=0)


class Dispatch:
    """One emission: the data as the hooks left it and every answer, with its hook's name."""

    __slots__ = (
        "data", "denied", "event", "given", "plan", "printed", "ran", "shadowed", "shared",
        "spoken", "timed", "times", "troubles", "unheeded",
    )  # fmt: skip

    def __init__(
        self, event: str, plan: Plan, data: dict[str, Any], shared: dict[str, Any] | None
    ) -> None:
        self.event = event
        self.plan = plan
        self.given = self.data = data
        # The copy that all hooks may see; None if each must get its own.
        self.shared = shared
        # The answers that are more than a plain continue; a denial is the last of them.
        self.spoken: list[Answer] = []
        # Those of hooks that ran behind a denial, and those that shadow mode kept from happening.
        self.unheeded: list[Answer] = []
        self.shadowed: tuple[Answer, ...] = ()
        self.troubles: tuple[Trouble, ...] = ()
        self.timed = self.denied = False
        self.times: dict[int, float] = {}
        """The seconds that each hook took which was called, by registration, if it is `timed`."""
        self.ran = len(plan.entries)
        self.printed: dict[HookHandler, str] | None = None
        """What hooks printed, by registration; None if nobody keeps that apart."""

    @property
    def answers(self) -> list[Answer]:
        """One answer for each hook that ran, in order."""
        spoken = {id(answer.handler): answer for answer in (*self.spoken, *self.unheeded)}
        ran = (handler for _, _, handler in self.plan.entries[: self.ran])
        return [spoken.get(id(handler)) or Answer(handler, CONTINUE) for handler in ran]

    @property
    def handlers(self) -> list[HookHandler]:
        """The registrations that this event reaches, in order."""
        return [handler for _, _, handler in self.plan.entries]

    @property
    def asking(self) -> list[Answer]:
        """The answers that want a person asked."""
        return [answer for answer in self.spoken if answer.result.action == "ask_user"]

    @property
    def ignored(self) -> list[Answer]:
        """The answers to an event that only tells which would stop it, or have a person asked."""
        if self.event not in notifications:
            return []
        meant = ("deny", "ask_user")
        return [one for one in self.spoken if one.result.action in meant and one.error is None]

    @property
    def is_over(self) -> bool:
        """Whether no other hook runs."""
        return self.denied and self.plan.mode == "enforce"

    def shadow(self) -> None:
        """Shadow mode: keep apart what would have had an effect, and go on as if nobody spoke."""
        said = [*self.spoken, *self.unheeded]
        self.shadowed += tuple(one for one in said if one.result.action != "continue")
        self.spoken = [one._replace(result=withdraw(one.result), left=None) for one in said]
        self.unheeded, self.denied, self.data = [], False, self.given
        self.shared = copy_plain(self.given)

    def __deepcopy__(self, _memo: Any) -> Dispatch:
        """A copied result goes with the same history: hooks are not data."""
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """A pickled result travels without it."""
        return type(None), ()

    def fold(self) -> HookResult:
        """The result that stands for all of them; it knows the dispatch that it came from."""
        winner = strongest(self.spoken)
        if winner is None:
            return continue_with(self.data)
        if winner.result.action == "modify":
            return continue_with(self.data, winner.result, self)
        return attach_origin(fold(self.spoken, self.data, self.event), self)

    def list_given(self) -> set[str]:
        """The fields of its result that somebody gave."""
        return set(fold(self.spoken, self.data).model_fields_set)


def find_dispatch(result: HookResult) -> Dispatch | None:
    """The dispatch behind a folded result, if it has one."""
    origin = result._origin
    if not isinstance(origin, Dispatch):
        return None
    # A copy whose action somebody changed is another answer.
    return origin if fold(origin.spoken, origin.data).action == result.action else None


# Running


def enter(event: str) -> int:
    """Go one emit deeper; returns the depth to go back to."""
    here = depth.get()
    if here >= MAX_DEPTH:
        raise HookDepthExceeded(f"'{event}' was emitted {here} emits deep; at most {MAX_DEPTH}")
    depth.set(here + 1)
    return here


_NOT_ASKED = object()


async def run_hooks(  # noqa: C901 - the loop that every audited event goes through
    run: Dispatch,
    first: int = 0,
    answer: Any = _NOT_ASKED,
    watch: Watch | None = None,
    end: int | None = None,
) -> Dispatch:
    """Run the hooks of a dispatch from one of them on; that one may have answered already."""
    follow, timed, started, printed = None, run.timed, 0.0, run.printed
    holder: Holder = []
    for call, name, record in run.plan.entries[first:end]:
        if printed is not None:
            running.set(holder := [])
        if watch is not None:
            follow = watch.begin(record)
        if timed:
            started = perf_counter()
        try:
            if answer is _NOT_ASKED:
                # A guard gets a copy that no other hook ever held.
                if call is None or run.shared is None:
                    answer = record.execute(name, detach(run.data))
                else:
                    answer = call(name, run.shared)
            kind = type(answer)
            if kind is CoroutineType or (kind is not HookResult and is_awaitable(answer)):
                answer = await (answer if follow is None else follow(answer))
            untouched = answer is CONTINUE and run.shared == run.data
        except FAILURES as error:
            answer, untouched = take_failure(error), False
        finally:
            if timed:
                run.times[record.id] = perf_counter() - started
            if watch is not None:
                watch.end(record)
            if printed is not None:
                holder.append(None)  # closed
                if (kept := holder[0]) is not None:
                    printed[record] = kept.text()
        if not untouched and settle(run, record, answer):
            break
        answer = _NOT_ASKED
    if run.spoken and run.plan.mode == "evaluate_only":
        run.shadow()
    return run


async def run_through(
    run: Dispatch, watch: Watch | None = None, before: Dispatch | None = None
) -> Dispatch:
    """Run all hooks of a dispatch; with `before` it is that operation, judged once more."""
    outside, plan = enter(run.event), run.plan
    try:
        if before is not None:
            await run_again(run, before, watch)
        else:
            await run_hooks(run, watch=watch, end=plan.in_turn)
            if observers := plan.entries[plan.in_turn :]:
                await run_observers(run, observers, watch)
        # Judged again, an operation may call nobody.
        plan.count_run(run.ran if run.times or not run.timed else 0, run.times)
        return run
    finally:
        depth.set(outside)


async def run_observers(
    run: Dispatch, entries: tuple[PlanEntry, ...], watch: Watch | None, again: bool = False
) -> None:
    """Let hooks that decide nothing look at the final data, side by side."""
    work = (_observe(run, *entry[1:], watch, again) for entry in entries if not run.is_over)
    answers = await asyncio.gather(*work, return_exceptions=True)
    for (_, _, record), answer in zip(entries, answers, strict=False):
        if isinstance(answer, BaseException) or answer.action == "continue":
            settle(run, record, answer)
        else:
            _advise(run, record, "parallel", NO_SAY.format(answer.action))


async def _observe(
    run: Dispatch, name: str, record: HookHandler, watch: Watch | None, again: bool
) -> HookResult:
    """In a task of its own, as is what it prints."""
    holder: Holder = []
    if run.printed is not None:
        running.set(holder)
    if watch is not None:
        watch.begin(record)
    started = perf_counter()
    try:
        return await record.execute(name, _tell(run, again))
    finally:
        if run.timed:
            run.times[record.id] = perf_counter() - started
        if watch is not None:
            watch.end(record)
        holder.append(None)
        if (kept := holder[0]) is not None and run.printed is not None:
            run.printed[record] = kept.text()


def _tell(run: Dispatch, again: bool) -> dict[str, Any]:
    told = detach(run.data)
    if again:
        told[JUDGED_AGAIN] = True
    return told


async def run_again(run: Dispatch, before: Dispatch, watch: Watch | None = None) -> Dispatch:
    """Judge an operation once more: guards, those that asked, those that have not seen this data.

    Of every other hook the answer that it gave stands, so that what it does is not done twice.
    """
    known, seen = {}, before.given
    for answer in before.answers:
        known[answer.handler] = seen, answer
        seen = seen if answer.left is None else answer.left
    again = run.given is before.given  # what a person has edited is another operation
    for place, (_, name, record) in enumerate(run.plan.entries[: run.plan.in_turn]):
        seen, said = known.get(record, ({}, Answer(record, CONTINUE)))
        judges = record.is_guard or said.result.action == "ask_user"
        if judges or not is_equal(seen, run.data):
            told = _tell(run, again)
            await run_hooks(run, place, record.execute(name, told), watch, place + 1)
        elif said.result is not CONTINUE or said.error is not None:
            _repeat(run, said)
        if run.is_over:
            break
    observers = run.plan.entries[run.plan.in_turn :]
    late = (one for one in observers if not is_equal(known.get(one[2], ({},))[0], run.data))
    await run_observers(run, tuple(late), watch, again)
    return run


def _repeat(run: Dispatch, said: Answer) -> None:
    (run.unheeded if run.denied else run.spoken).append(said)
    if said.left is not None and not run.denied:
        run.data, run.shared = said.left, copy_plain(said.left)


async def collect_replies(run: Dispatch, timeout: float) -> AsyncIterator[Any]:
    """The data of each answer that has some; a hook that fails or is late is passed over."""
    for _, name, record in run.plan.entries:
        limit = min(timeout, record.timeout or timeout)
        limited = HookHandler(record.handler, name=record.name, timeout=limit)
        record.counts.calls += 1
        try:
            result = await limited.execute(name, detach(run.data))
        except FAILURES as error:
            _answer_for_failure(run, record, take_failure(error))
            continue
        if result.data is not None and not (record.parallel or record.shadow):
            yield result.data


def take_failure(error: BaseException) -> BaseException:
    """The failure of a hook, unless the running task itself is being cancelled."""
    if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
        raise error
    return error


# What became of one hook


def settle(run: Dispatch, record: HookHandler, answer: Any) -> bool:  # noqa: C901 - one frame, because each costs as much as what it does
    """Take an answer into the dispatch; True if it ends the chain."""
    before = run.data
    kind = type(answer.data) if type(answer) is HookResult and answer.action == "modify" else None
    if kind is dict and not (run.denied or record.shadow):  # the usual change
        try:
            run.data, is_gone = adopt(answer.data, before, PINNED)
        except Exception as error:  # noqa: BLE001 - past validation, keys may be anything
            kind, answer = None, explain_unusable(error)
    else:
        kind = None
    if kind is not None:
        record.counts.count_answer("modify", run.plan.mode == "evaluate_only", False)
        if is_gone and (advice := find_omission(answer, before)):
            _advise(run, record, "modify", advice)
        run.spoken.append(keep_change(record, answer, run.data))
    elif answer is not CONTINUE:
        _take_answer(run, record, answer)
        if run.denied and run.is_over:
            run.ran = 1 + next(i for i, entry in enumerate(run.plan.entries) if entry[2] is record)
            return True
    if run.data is not before:
        run.shared = None if record is run.plan.entries[-1][2] else copy_plain(run.data)
    elif run.shared is not None and not is_equal(run.shared, run.data):
        _advise(run, record, "in place", IN_PLACE)
        run.shared = copy_plain(run.data)
    return False


def _take_answer(run: Dispatch, record: HookHandler, answer: Any) -> None:
    data = run.data
    result, error, left = _read(run, record, answer)
    action = result.action
    if advice := find_omission(result, data):
        _advise(run, record, action, advice)
    if action != "continue":
        shadowed = record.shadow or run.plan.mode == "evaluate_only"
        record.counts.count_answer(action, shadowed, run.denied)
        if record.shadow:  # kept apart
            run.shadowed += (Answer(record, result),)
            result, action = withdraw(result), "continue"
        elif left is not None:
            run.data = left
    if result is not CONTINUE or error is not None:
        (run.unheeded if run.denied else run.spoken).append(Answer(record, result, error, left))
    if action == "deny" and not run.denied:
        run.denied = True
        if run.plan.mode == "run_all":
            run.data = {**data, DENIED_BY: record.name}


def _read(
    run: Dispatch, record: HookHandler, answer: Any
) -> tuple[HookResult, BaseException | None, dict[str, Any] | None]:
    """The result in an answer, what failed, and the data that it leaves, if it changes them."""
    error, left = answer, None
    if not isinstance(answer, BaseException):
        try:
            result = read_answer(answer)
            if result.action == "modify" and not (run.denied or record.shadow):
                left = adopt(result.data or {}, run.data, PINNED)[0]
            return result, None, left
        except InvalidHookResult as caught:
            error = caught
        except Exception as caught:  # noqa: BLE001 - as above
            error = explain_unusable(caught)
    return _answer_for_failure(run, record, error), error, None


def _answer_for_failure(run: Dispatch, record: HookHandler, error: BaseException) -> HookResult:
    cause = describe_cause(error)
    if isinstance(error, InvalidHookResult):
        effect = "as it is a guard, this is denied" if record.is_guard else "ignored"
        logger.warning("Hook '%s' on '%s' %s; %s", record.name, run.event, error, effect)
    else:
        trace = None if type(error) in record.traced else error  # once for each kind of failure
        record.traced.add(type(error))
        logger.error("Hook '%s' failed on '%s': %s", record.name, run.event, cause, exc_info=trace)
    run.troubles += (Trouble(record, error),)
    record.counts.count_failure(isinstance(error, HookTimeout))
    if not record.is_guard:
        return CONTINUE
    reason = f"hook '{record.name}' failed and fails closed: {cause}"
    return HookResult(action="deny", reason=reason)


def _advise(run: Dispatch, record: HookHandler, about: str, advice: str) -> None:
    if record.advise(about, advice):
        run.troubles += (Trouble(record, None, advice),)

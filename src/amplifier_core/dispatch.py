"""A dispatch: one event on its way through its hooks, with every answer kept apart.

`run_hooks` is the one loop that every event goes through. Each hook sees the data as the hooks
before it left them; what it answers, or how it failed, is applied before the next one is called.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextvars import ContextVar
from time import perf_counter
from typing import Any

from pydantic import PrivateAttr

from amplifier_core.answers import DENIED_BY as DENIED_BY
from amplifier_core.answers import (
    IN_PLACE,
    NO_SAY,
    PINNED,
    HookProblem,
    explain_unusable,
    find_omission,
    read_answer,
    withdraw,
)
from amplifier_core.answers import JUDGED_AGAIN as JUDGED_AGAIN
from amplifier_core.answers import Answer as Answer
from amplifier_core.errors import HookDepthExceeded, HookTimeout, InvalidHookResult
from amplifier_core.events import canonical, notifications
from amplifier_core.handlers import Mode
from amplifier_core.models import CONTINUE, HookResult, continue_with
from amplifier_core.output import Capture
from amplifier_core.precedence import fold
from amplifier_core.registration import Follow as Follow
from amplifier_core.registration import HookHandler
from amplifier_core.registration import Watch as Watch
from amplifier_core.utils import is_awaitable, is_being_cancelled
from amplifier_core.utils.copying import adopt, copy_plain, detach, is_equal
from amplifier_core.utils.text import describe_cause

logger = logging.getLogger(__name__)

# Emits nested deeper than this are a failed hook.
MAX_DEPTH = 16

FAILURES = (Exception, asyncio.CancelledError)

# How many emits the running code is inside of.
depth: ContextVar[int] = ContextVar("amplifier_hook_depth", default=0)


class Dispatch:
    """One emission: the data as the hooks left it and every answer, with its hook's name."""

    def __init__(
        self,
        event: str,
        handlers: Sequence[HookHandler],
        data: dict[str, Any],
        mode: Mode = "enforce",
    ) -> None:
        self.event = event
        self.handlers = list(handlers)
        """The registrations that this event reaches, in order. The list is never changed."""
        self.mode = mode
        self.given = data
        self.data = data
        self.answers: list[Answer] = []
        """The answers that are more than a plain continue; a denial is the last of them."""
        self.ignored_answers: list[Answer] = []
        """Those of hooks that ran behind a denial."""
        self.shadow_answers: tuple[Answer, ...] = ()
        """Those that shadow mode kept from happening."""
        self.problems: tuple[HookProblem, ...] = ()
        self.denied = False
        self.ran = len(self.handlers)
        """How many of the hooks were reached, or had answered before; the others came too late."""
        self.times: dict[int, float] = {}
        """The seconds that each hook took which was called, by registration."""
        self.printed: dict[HookHandler, str] | None = None
        """What hooks printed, by registration; None if output is not captured."""
        self._shared: dict[str, Any] | None = None

    @property
    def all_answers(self) -> list[Answer]:
        """One answer for each hook that ran, in order."""
        given = {id(one.handler): one for one in (*self.answers, *self.ignored_answers)}
        ran = self.handlers[: self.ran]
        return [given.get(id(handler)) or Answer(handler, CONTINUE) for handler in ran]

    @property
    def asking(self) -> list[Answer]:
        """The answers that want a person asked."""
        return [answer for answer in self.answers if answer.result.action == "ask_user"]

    @property
    def powerless_answers(self) -> list[Answer]:
        """The answers to an event that only tells which would stop it, or have a person asked."""
        if self.event not in notifications:
            return []
        meant = ("deny", "ask_user")
        return [one for one in self.answers if one.result.action in meant and one.error is None]

    @property
    def has_news(self) -> bool:
        """Whether hooks failed, or answered something that had no effect."""
        return bool(self.problems or self.shadow_answers or self.powerless_answers)

    @property
    def is_stopped(self) -> bool:
        """Whether no other hook runs."""
        return self.denied and self.mode == "enforce"

    def name_for(self, handler: HookHandler) -> str:
        """The event as a hook is told it: in the spelling of its own registration."""
        own = handler.event
        if own != self.event and canonical(own) == canonical(self.event):
            return own
        return self.event

    def copy_for(self, handler: HookHandler) -> dict[str, Any]:
        """A copy of the data for a hook: what it changes in place has no effect.

        Most hooks look at one copy, one after another; `check_shared_copy` comes after each.
        """
        if handler.has_own_copy:
            return detach(self.data)
        if self._shared is None:
            self._shared = copy_plain(self.data)
        if self._shared is None:
            return detach(self.data)
        return self._shared

    def check_shared_copy(self, handler: HookHandler) -> None:
        """Make a new shared copy if a hook has changed this one, and tell its author."""
        if self._shared is not None and not is_equal(self._shared, self.data):
            self._shared = None
            advise(self, handler, "in place", IN_PLACE)

    def change_data(self, data: dict[str, Any]) -> None:
        """From here on, hooks and the operation have this."""
        self.data = data
        self._shared = None

    def shadow(self) -> None:
        """Shadow mode: keep apart what would have had an effect, and go on without answers."""
        said = [*self.answers, *self.ignored_answers]
        self.shadow_answers += tuple(one for one in said if one.result.action != "continue")
        self.answers = [one._replace(result=withdraw(one.result), left=None) for one in said]
        self.ignored_answers = []
        self.denied = False
        self.change_data(self.given)

    def fold(self) -> HookResult:
        """The result that stands for all answers; it knows the dispatch that it came from."""
        if not self.answers:
            return continue_with(self.data)
        return EmittedResult.of(self)

    def __deepcopy__(self, _memo: Any) -> Dispatch:
        """A copied result goes with the same history: hooks are not data."""
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """A pickled result travels without it."""
        return type(None), ()


class EmittedResult(HookResult):
    """The result of an emit: one for all answers, which knows the dispatch that it came from."""

    _dispatch: Dispatch | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, run: Dispatch) -> EmittedResult:
        """The result that stands for all answers of a dispatch."""
        folded = fold(run.answers, run.data, run.event)
        # All of them, whatever a result that was built past its validation says was given.
        fields = {name: getattr(folded, name) for name in HookResult.model_fields}
        result = _EMPTY.model_copy(update=fields)
        result.model_fields_set.intersection_update(folded.model_fields_set)
        result._dispatch = run
        return result

    def __eq__(self, other: object) -> bool:
        """By the fields alone: who compares results does not ask where they come from."""
        return isinstance(other, HookResult) and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]  # as any result, it holds lists and dicts

    def __repr_name__(self) -> str:
        return HookResult.__name__


_EMPTY = EmittedResult.model_construct()


def find_dispatch(result: HookResult) -> Dispatch | None:
    """The dispatch behind the result of an emit, if it has one."""
    run = result._dispatch if isinstance(result, EmittedResult) else None
    if run is None:
        return None
    # A copy with another action is another answer.
    if fold(run.answers, run.data).action == result.action:
        return run
    return None


# Running


async def run_dispatch(
    run: Dispatch, watch: Watch | None = None, before: Dispatch | None = None
) -> None:
    """Run all hooks of a dispatch; with `before` it is that operation, judged once more."""
    outside = enter(run.event)
    try:
        if before is None:
            await run_hooks(run, watch)
        else:
            await run_again(run, before, watch)
    finally:
        depth.set(outside)


def enter(event: str) -> int:
    """Go one emit deeper; returns the depth to go back to."""
    here = depth.get()
    if here >= MAX_DEPTH:
        raise HookDepthExceeded(f"'{event}' was emitted {here} emits deep; at most {MAX_DEPTH}")
    depth.set(here + 1)
    return here


async def run_hooks(run: Dispatch, watch: Watch | None) -> None:
    """Run the hooks of an event in order, until one denies; then those that only observe."""
    observers = []
    for handler in run.handlers:
        if handler.parallel:
            observers.append(handler)
            continue
        answer = await call_hook(run, handler, run.copy_for(handler), watch)
        apply_answer(run, handler, answer)
        if run.is_stopped:
            return
    if run.answers and run.mode == "evaluate_only":
        run.shadow()
    if observers:
        await run_observers(run, observers, watch)


async def run_again(run: Dispatch, before: Dispatch, watch: Watch | None) -> None:
    """Judge an operation once more: guards, those that asked, those that have not seen this data.

    Of every other hook the answer that it gave stands, so that what it does is not done twice.
    """
    earlier = _list_earlier(before)
    is_again = run.given is before.given  # what a person has edited is another operation
    for handler in run.handlers:
        if handler.parallel:
            break
        seen_data, said = earlier.get(handler, _NEVER_ASKED)
        is_judge = handler.is_guard or said.result.action == "ask_user"
        if is_judge or not is_equal(seen_data, run.data):
            answer = await call_hook(run, handler, copy_again(run, is_again), watch)
            apply_answer(run, handler, answer)
        elif said.result is not CONTINUE or said.error is not None:
            repeat_answer(run, said)
        if run.is_stopped:
            return
    if run.answers and run.mode == "evaluate_only":
        run.shadow()
    observers = [
        one
        for one in run.handlers
        if one.parallel and not is_equal(earlier.get(one, _NEVER_ASKED)[0], run.data)
    ]
    if observers:
        await run_observers(run, observers, watch, is_again)


_Earlier = tuple[dict[str, Any], Answer]
"""The data that a hook was given, and what it answered."""

_NEVER_ASKED: _Earlier = ({}, Answer(None, CONTINUE))


def _list_earlier(before: Dispatch) -> dict[HookHandler, _Earlier]:
    earlier: dict[HookHandler, _Earlier] = {}
    data = before.given
    for answer in before.all_answers:
        earlier[answer.handler] = (data, answer)
        if answer.left is not None:
            data = answer.left
    return earlier


def repeat_answer(run: Dispatch, said: Answer) -> None:
    """Let an answer stand that a hook gave when the operation was judged before."""
    if run.denied:
        run.ignored_answers.append(said)
        return
    run.answers.append(said)
    if said.left is not None:
        run.change_data(said.left)


def copy_again(run: Dispatch, is_again: bool) -> dict[str, Any]:
    """The data for a hook alone; if it is called once more, it is told so."""
    copy = detach(run.data)
    if is_again:
        copy[JUDGED_AGAIN] = True
    return copy


async def run_observers(
    run: Dispatch, observers: list[HookHandler], watch: Watch | None, is_again: bool = False
) -> None:
    """Let hooks that decide nothing look at the final data, side by side."""
    calls = [call_hook(run, one, copy_again(run, is_again), watch) for one in observers]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    for handler, answer in zip(observers, answers, strict=True):
        if isinstance(answer, BaseException) or answer.action == "continue":
            apply_answer(run, handler, answer)
        else:
            advise(run, handler, "parallel", NO_SAY.format(answer.action))


async def call_hook(
    run: Dispatch, handler: HookHandler, data: dict[str, Any], watch: Watch | None
) -> HookResult | BaseException:
    """What a hook answers, or how it failed; it is timed, and what it prints is kept apart."""
    capture = None if run.printed is None else Capture()
    follow = None if watch is None else watch.begin(handler)
    answer: HookResult | BaseException
    started = perf_counter()
    try:
        found = handler.call(run.name_for(handler), data)
        if is_awaitable(found):
            found = await (found if follow is None else follow(found))
        answer = read_answer(found)
    except FAILURES as error:
        answer = as_failure(error)
    finally:
        run.times[handler.id] = seconds = perf_counter() - started
        if watch is not None:
            watch.end(handler)
        if capture is not None and run.printed is not None and (text := capture.end()):
            run.printed[handler] = text
    handler.counts.count_call(seconds)
    return answer


def as_failure(error: BaseException) -> BaseException:
    """The failure of a hook, unless the running task itself is being cancelled."""
    if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
        raise error
    return error


async def collect_replies(run: Dispatch, timeout: float) -> AsyncIterator[Any]:
    """The data of each answer that has some; a hook that fails or is late is passed over."""
    for handler in run.handlers:
        limit = min(timeout, handler.timeout or timeout)
        limited = HookHandler(handler.handler, name=handler.name, timeout=limit)
        handler.counts.calls += 1
        try:
            result = await limited.execute(run.name_for(handler), detach(run.data))
        except FAILURES as error:
            answer_for_failure(run, handler, as_failure(error))
            continue
        if result.data is not None and not (handler.parallel or handler.shadow):
            yield result.data


# What became of one hook


def apply_answer(run: Dispatch, handler: HookHandler, answer: HookResult | BaseException) -> None:
    """Take an answer, or a failure, into the dispatch."""
    if answer is CONTINUE:
        run.check_shared_copy(handler)
        return
    before = run.data
    changed: dict[str, Any] | None = None
    has_say = not (run.denied or handler.shadow)
    if isinstance(answer, HookResult) and answer.action == "modify" and has_say:
        try:
            changed = adopt(answer.data or {}, before, PINNED)
        except Exception as error:  # noqa: BLE001 - past validation, keys may be anything
            answer = explain_unusable(error)
    failure = answer if isinstance(answer, BaseException) else None
    result = answer if isinstance(answer, HookResult) else answer_for_failure(run, handler, answer)
    record_answer(run, Answer(handler, result, failure, changed))
    if run.data is before:
        run.check_shared_copy(handler)


def record_answer(run: Dispatch, answer: Answer) -> None:
    """Give an answer its effect, count it, and keep it."""
    handler = answer.handler
    result = answer.result
    if advice := find_omission(result, run.data):
        advise(run, handler, result.action, advice)
    if result.action != "continue":
        in_shadow = handler.shadow or run.mode == "evaluate_only"
        handler.counts.count_answer(result.action, in_shadow, run.denied)
    if handler.shadow and result.action != "continue":
        run.shadow_answers += (answer._replace(error=None),)
        answer = answer._replace(result=withdraw(result))
    if answer.left is not None:
        run.change_data(answer.left)
    (run.ignored_answers if run.denied else run.answers).append(answer)
    if answer.result.action == "deny" and not run.denied:
        deny(run, handler)


def deny(run: Dispatch, handler: HookHandler) -> None:
    """Note that a hook has denied the operation; in the mode `run_all`, later hooks are told so."""
    run.denied = True
    if run.mode == "enforce":
        run.ran = run.handlers.index(handler) + 1
    elif run.mode == "run_all":
        run.change_data({**run.data, DENIED_BY: handler.name})


def answer_for_failure(run: Dispatch, handler: HookHandler, error: BaseException) -> HookResult:
    """Log and count a failure; a guard that fails denies, any other hook is passed over."""
    cause = describe_cause(error)
    if isinstance(error, InvalidHookResult):
        effect = "as it is a guard, this is denied" if handler.is_guard else "ignored"
        logger.warning("Hook '%s' on '%s' %s; %s", handler.name, run.event, error, effect)
    else:
        trace = None if type(error) in handler.traced else error  # once for each kind of failure
        handler.traced.add(type(error))
        logger.error("Hook '%s' failed on '%s': %s", handler.name, run.event, cause, exc_info=trace)
    run.problems += (HookProblem(handler, error),)
    handler.counts.count_failure(isinstance(error, HookTimeout))
    if not handler.is_guard:
        return CONTINUE
    reason = f"hook '{handler.name}' failed and fails closed: {cause}"
    return HookResult(action="deny", reason=reason)


def advise(run: Dispatch, handler: HookHandler, about: str, advice: str) -> None:
    """Tell the author of a hook, once, what does not work as it was probably meant."""
    if handler.advise(about, advice):
        run.problems += (HookProblem(handler, None, advice),)

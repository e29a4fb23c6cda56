"""The registry of hooks: who listens to what, in which order, and what they answered."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import threading
import time
from bisect import bisect_left, insort
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from heapq import merge
from inspect import CO_COROUTINE
from itertools import count
from operator import length_hint
from types import CoroutineType, FunctionType, MethodType
from typing import Any, Literal, Protocol, overload
from weakref import WeakSet

from pydantic import BaseModel, ValidationError

from amplifier_core import events
from amplifier_core.errors import HookDepthExceeded, HookTimeout, InvalidHookResult
from amplifier_core.isolation import NotPlain, adopt, copy_dict, copy_plain, detach
from amplifier_core.models import CONTINUE, HookResult, continue_with, find_problem, replace_fields
from amplifier_core.precedence import STRONGEST_FIRST, fold
from amplifier_core.utils import describe_error, run_with_timeout, timestamp

logger = logging.getLogger(__name__)

MAX_DEPTH = 16
"""Emits nested deeper than this are a failed hook."""

PINNED = ("timestamp", "session_id")
"""What `modify` cannot change."""

MOST_PLANS = 1_000
"""Events whose order is remembered; a module that makes up names does not fill the memory."""

OnError = Literal["continue", "deny"]
Handler = Callable[[str, dict[str, Any]], Any]
Unregister = Callable[[], None]

_FAILURES = (Exception, asyncio.CancelledError)

_depth: ContextVar[int] = ContextVar("amplifier_hook_depth", default=0)
_registrations = count(1)


class HookHandler:
    """One registration: the handler and how it wants to be run. Sorts by priority."""

    __slots__ = ("event", "handler", "id", "name", "on_error", "priority", "timeout")

    def __init__(
        self,
        handler: Handler,
        priority: int = 0,
        name: str | None = None,
        *,
        event: str = "",
        on_error: OnError = "continue",
        timeout: float | None = None,
    ) -> None:
        self.handler = handler
        self.priority = priority
        self.name = name or _default_name(handler)
        self.event = event
        self.on_error = on_error
        self.timeout = timeout
        self.id = next(_registrations)

    def __lt__(self, other: HookHandler) -> bool:
        return (self.priority, self.id) < (other.priority, other.id)

    def __repr__(self) -> str:
        return f"HookHandler(name={self.name!r}, event={self.event!r}, priority={self.priority})"

    async def execute(self, event: str, data: dict[str, Any]) -> HookResult:
        """Run the handler alone, within its time limit; what it raises goes through."""
        limit = self.timeout
        started = time.monotonic()
        answer = self.handler(event, data)
        if inspect.isawaitable(answer):
            answer = await (answer if limit is None else self._limited(answer, limit))
        if limit is not None and time.monotonic() - started > limit:
            raise HookTimeout(f"took longer than {limit:g} s")
        return read_answer(answer)

    async def _limited(self, work: Awaitable[Any], limit: float) -> Any:
        started = time.monotonic()
        try:
            return await run_with_timeout(work, limit)
        except TimeoutError as error:
            if time.monotonic() - started < limit:
                raise  # its own
            raise HookTimeout(str(error)) from None


@dataclass(frozen=True, slots=True)
class Answer:
    """What one hook said, and how it came to say it."""

    handler: HookHandler
    result: HookResult
    error: BaseException | None = None

    @property
    def hook(self) -> str:
        return self.handler.name

    @property
    def timed_out(self) -> bool:
        return isinstance(self.error, HookTimeout)


_Entry = tuple[int, int, HookHandler]
_PlanEntry = tuple[Handler | None, str, HookHandler]
"""The call (None for a hook with limits, which needs more than that), its event name, itself."""


class Plan(tuple[_PlanEntry, ...]):
    """What one event runs, in order; nobody changes it, so an emit keeps what it started with."""

    calls: tuple[Handler, ...] | None
    """The bare handlers, if all are coroutine functions without limits that see this name."""

    @classmethod
    def of(cls, event: str, entries: Iterable[_PlanEntry]) -> Plan:
        """The plan of an event."""
        plan = cls(entries)
        plain = all(name == event and _is_coroutine_function(call) for call, name, _ in plan)
        plan.calls = tuple(record.handler for _, _, record in plan) if plain else None
        return plan


def _is_coroutine_function(call: Any) -> bool:
    return type(call) in (FunctionType, MethodType) and bool(call.__code__.co_flags & CO_COROUTINE)


class Dispatch:
    """One emission: the data as the hooks left it and every answer, with its hook's name."""

    __slots__ = ("data", "denied", "event", "plan", "ran", "shared", "spoken")

    def __init__(
        self, event: str, plan: Plan, data: dict[str, Any], shared: dict[str, Any] | None
    ) -> None:
        self.event = event
        self.plan = plan
        self.data = data
        self.shared = shared
        self.spoken: list[Answer] = []
        self.ran = len(plan)
        self.denied = False

    @property
    def answers(self) -> list[Answer]:
        """One answer for each hook that ran, in order."""
        spoken = {id(answer.handler): answer for answer in self.spoken}
        ran = (handler for _, _, handler in self.plan[: self.ran])
        return [spoken.get(id(handler)) or Answer(handler, CONTINUE) for handler in ran]

    def position(self, record: HookHandler) -> int:
        """Where in the order a registration stands."""
        return next(i for i, entry in enumerate(self.plan) if entry[2] is record)

    def __deepcopy__(self, _memo: Any) -> Dispatch:
        """A copied result goes with the same history: hooks are not data."""
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """A pickled result travels without it."""
        return type(None), ()

    def fold(self) -> HookResult:
        """The result that stands for all of them; it carries this dispatch along, privately."""
        if not self.spoken:
            return continue_with(self.data)
        return replace_fields(fold(self.spoken, self.data), _dispatch=self)


def dispatch_of(result: HookResult) -> Dispatch | None:
    """The dispatch behind a folded result, if it has one."""
    carried = result.__dict__.get("_dispatch")
    if not isinstance(carried, Dispatch):
        return None
    # A copy whose action somebody changed is another answer.
    return carried if fold(carried.spoken, carried.data).action == result.action else None


Steps = Callable[[float], None]


class Watch(Protocol):
    """Looks on while hooks run, one at a time: the coordinator's eyes and clock.

    What `begin` returns, if anything, is told the seconds that each step of the hook took between
    two waits: so long it held the loop.
    """

    def begin(self, handler: HookHandler) -> Steps | None: ...
    def end(self, handler: HookHandler) -> None: ...


class _Timed:
    """Work that is timed step by step."""

    __slots__ = ("_tell", "_work")

    def __init__(self, work: Awaitable[Any], tell: Steps) -> None:
        self._work = work
        self._tell = tell

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._work.__await__()
        advance: Callable[[], Any] = partial(next, steps)
        while True:
            started = time.perf_counter()
            try:
                waiting = advance()
            except StopIteration as done:
                return done.value
            finally:
                self._tell(time.perf_counter() - started)
            try:
                yield waiting
                advance = partial(next, steps)
            except BaseException as error:  # noqa: BLE001 - cancellation too is the hook's to see
                advance = partial(_throw_into, steps, error)


def _throw_into(steps: Any, error: BaseException) -> Any:
    return steps.throw(error)


class HookRegistry:
    """Manages hooks: registers them, emits events to them in priority order, folds what they say.

    A registry with a parent runs the parent's hooks too, merged into one order.
    """

    SESSION_START = events.SESSION_START
    SESSION_END = events.SESSION_END
    PROMPT_SUBMIT = events.PROMPT_SUBMIT
    TOOL_PRE = events.TOOL_PRE
    TOOL_POST = events.TOOL_POST
    CONTEXT_PRE_COMPACT = "context:pre-compact"
    AGENT_SPAWN = events.AGENT_SPAWN
    AGENT_COMPLETE = events.AGENT_COMPLETE
    ORCHESTRATOR_COMPLETE = events.ORCHESTRATOR_COMPLETE
    USER_NOTIFICATION = events.USER_NOTIFICATION
    DECISION_TOOL_RESOLUTION = events.DECISION_TOOL_RESOLUTION
    DECISION_AGENT_RESOLUTION = events.DECISION_AGENT_RESOLUTION
    DECISION_CONTEXT_RESOLUTION = events.DECISION_CONTEXT_RESOLUTION
    ERROR_TOOL = events.ERROR_TOOL
    ERROR_PROVIDER = events.ERROR_PROVIDER
    ERROR_ORCHESTRATION = events.ERROR_ORCHESTRATION

    def __init__(self, parent: HookRegistry | None = None) -> None:
        self.parent = parent
        self._by_event: dict[str, list[_Entry]] = {}
        self._defaults: dict[str, Any] = {}
        self._plans: dict[str, Plan] = {}
        self._children: WeakSet[HookRegistry] = WeakSet()
        self._listeners: list[Callable[[str, HookHandler], None]] = []
        self._lock = threading.Lock()
        if parent is not None:
            parent._children.add(self)

    # Registration

    @overload
    def register(
        self,
        event: str,
        handler: None = None,
        priority: int = 0,
        name: str | None = None,
        *,
        on_error: OnError = "continue",
        timeout: float | None = None,
    ) -> Callable[[Handler], Handler]: ...
    @overload
    def register(
        self,
        event: str,
        handler: Handler,
        priority: int = 0,
        name: str | None = None,
        *,
        on_error: OnError = "continue",
        timeout: float | None = None,
    ) -> Unregister: ...
    def register(
        self,
        event: str,
        handler: Handler | None = None,
        priority: int = 0,
        name: str | None = None,
        *,
        on_error: OnError = "continue",
        timeout: float | None = None,
    ) -> Unregister | Callable[[Handler], Handler]:
        """Listen to an event or a pattern; lower priorities run first, equal ones in order.

        Returns what removes this registration. Without a handler it is a decorator.
        `on_error="deny"` makes it a guard: if it fails, the operation is denied. `timeout` is in
        seconds; running over it is a failure.
        """
        if handler is None:
            return partial(
                self._decorate, event, priority, name=name, on_error=on_error, timeout=timeout
            )
        if type(event) is not str or not event.strip() or type(priority) is not int:
            _check_event(event)
            _check_priority(priority)
        if on_error != "continue" or timeout is not None:
            _check_limits(on_error, timeout)
        if type(handler) is not FunctionType or not _takes_two(handler):
            _check_handler(handler)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"A hook's name must be a string, got {name!r}")
        record = HookHandler(
            handler, priority, name, event=event, on_error=on_error, timeout=timeout
        )
        with self._lock:
            insort(self._by_event.setdefault(event, []), (priority, record.id, record))
        self._changed("registered", record)
        return partial(self.remove, record)

    on = register

    def _decorate(self, event: str, priority: int, handler: Handler, **settings: Any) -> Handler:
        if handler is None:
            raise TypeError("A hook handler must be callable, got None")
        self.register(event, handler, priority, **settings)
        return handler

    def unregister(self, name: str) -> int:
        """Remove every registration of that name; returns how many there were."""
        with self._lock:
            every = [entry[2] for entries in self._by_event.values() for entry in entries]
        found = [record for record in every if record.name == name]
        for record in found:
            self.remove(record)
        return len(found)

    unregister_by_name = unregister

    def move(self, record: HookHandler, priority: int) -> None:
        """Give a registration another place in the order; it keeps its identity."""
        _check_priority(priority)
        with self._lock:
            entries = self._by_event.get(record.event, [])
            entry = (record.priority, record.id, record)
            index = bisect_left(entries, entry)
            if index == len(entries) or entries[index][2] is not record:
                raise ValueError(f"{record!r} is not registered here")
            del entries[index]
            record.priority = priority
            insort(entries, (priority, record.id, record))
        self._changed("registered", record)

    def remove(self, record: HookHandler) -> None:
        """Remove one registration; removing it twice changes nothing."""
        with self._lock:
            entries = self._by_event.get(record.event, [])
            index = bisect_left(entries, (record.priority, record.id, record))
            if index == len(entries) or entries[index][2] is not record:
                return
            del entries[index]
            if not entries:
                del self._by_event[record.event]
        self._changed("unregistered", record)

    def _changed(self, change: str, record: HookHandler) -> None:
        self._forget_plans()
        if logger.isEnabledFor(logging.DEBUG):
            verb, word = (
                ("Registered", "for") if change == "registered" else ("Unregistered", "from")
            )
            logger.debug("%s hook '%s' %s event '%s'", verb, record.name, word, record.event)
        for listener in self._listeners:
            listener(change, record)

    def _forget_plans(self) -> None:
        self._plans = {}
        if self._children:
            for child in list(self._children):
                child._forget_plans()

    def listen(self, listener: Callable[[str, HookHandler], None]) -> Unregister:
        """Be told of each change: `("registered" | "unregistered", registration)`."""
        self._listeners = [*self._listeners, listener]
        return partial(self._stop_telling, listener)

    def _stop_telling(self, listener: Callable[[str, HookHandler], None]) -> None:
        self._listeners = [one for one in self._listeners if one is not listener]

    def set_default_fields(self, **defaults: Any) -> None:
        """Fields merged into every event; what the event itself says wins."""
        self._defaults = defaults

    @property
    def default_fields(self) -> dict[str, Any]:
        """A copy of them."""
        return dict(self._defaults)

    # Inspection

    def hears(self, event: str) -> bool:
        """Whether any hook listens to the event."""
        return bool(self._plan(event))

    def handlers_for(self, event: str) -> list[HookHandler]:
        """The registrations an event reaches, in execution order."""
        return [record for _, _, record in self._plan(event)]

    def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """Names in execution order: of one event (patterns included), or of all registrations."""
        if event is not None:
            return {event: [record.name for record in self.handlers_for(event)]}
        found: dict[str, list[list[_Entry]]] = {}
        registry: HookRegistry | None = self
        while registry is not None:
            for spelled, entries in registry._snapshot():
                found.setdefault(spelled, []).append(entries)
            registry = registry.parent
        return {spelled: [e[2].name for e in merge(*lists)] for spelled, lists in found.items()}

    def _snapshot(self) -> list[tuple[str, list[_Entry]]]:
        with self._lock:
            return [(spelled, list(entries)) for spelled, entries in self._by_event.items()]

    # Plans: the handlers of one event, found once and kept until a registration changes

    def _plan(self, event: str) -> Plan:
        plan = self._plans.get(event) if type(event) is str else None
        if plan is None:
            _check_event(event)
            plans = self._plans if len(self._plans) < MOST_PLANS else {}
            plan = plans[event] = Plan.of(event, self._entries_for(event))
        return plan

    def _entries_for(self, event: str) -> Iterable[_PlanEntry]:
        names = events.spellings(event)
        spelled_first: dict[Any, str] = {}
        for _, _, record in merge(*self._matching(names)):
            exact = record.event in names
            if exact and spelled_first.setdefault(_identity(record), record.event) != record.event:
                continue
            careful = record.on_error == "deny" or record.timeout is not None
            yield (
                None if careful else record.handler,
                record.event if exact else event,
                record,
            )

    def _matching(self, names: tuple[str, ...]) -> list[list[_Entry]]:
        own = [
            entries
            for spelled, entries in self._snapshot()
            if spelled in names or ("*" in spelled and any(fnmatchcase(n, spelled) for n in names))
        ]
        return own if self.parent is None else own + self.parent._matching(names)

    # Emission

    async def emit(self, event: str, data: dict[str, Any] | None = None) -> HookResult:  # noqa: C901 - one frame, because each costs as much as a hook
        """Run every hook of the event in order; returns the strongest answer and the final data."""
        try:
            plan = self._plans[event]
        except (KeyError, TypeError):
            plan = self._plan(event)
        if type(data) is not dict:
            data = normalize_data(data)
        if not plan:
            return continue_with({**self._defaults, **data})
        calls, depth = plan.calls, _depth.get()
        if calls is None or depth >= MAX_DEPTH:
            return (await self.dispatch(event, data)).fold()
        current = {**self._defaults, **data, "timestamp": timestamp()}
        try:
            seen = copy_dict(current)
        except (NotPlain, RecursionError):
            return (await self.dispatch(event, data)).fold()
        _depth.set(depth + 1)
        try:
            # The path of events to which every hook says continue; the first other word leaves it.
            waiting = iter(calls)
            for call in waiting:
                try:
                    answer = await call(event, seen)
                    if answer is CONTINUE and seen == current:
                        continue
                except _FAILURES as error:
                    answer = _failure(error)
                break
            else:
                return continue_with(current)
            run = Dispatch(event, plan, current, seen)
            index = len(calls) - length_hint(waiting) - 1
            return (await _ask_from(index, run, answer)).fold()
        finally:
            _depth.set(depth)

    async def dispatch(
        self, event: str, data: Mapping[str, Any] | None = None, watch: Watch | None = None
    ) -> Dispatch:
        """The same as `emit`, every answer kept apart; `watch` sees each hook begin and end."""
        run = self._dispatch(event, data)
        depth = _enter(event)
        try:
            return await _ask_from(0, run, watch=watch)
        finally:
            _depth.set(depth)

    async def emit_and_collect(
        self, event: str, data: dict[str, Any] | None = None, timeout: float = 1.0
    ) -> list[Any]:
        """Ask every hook the same question; returns the `data` of each answer that has some.

        A hook that fails or takes longer than `timeout` seconds is skipped.
        """
        _check_limits("continue", timeout)
        run = self._dispatch(event, data)
        depth = _enter(event)
        try:
            return [reply async for reply in _replies(run, timeout)]
        finally:
            _depth.set(depth)

    def _dispatch(self, event: str, data: Any) -> Dispatch:
        if type(data) is not dict:
            data = normalize_data(data)
        stamped = {**self._defaults, **data, "timestamp": timestamp()}
        return Dispatch(event, self._plan(event), stamped, copy_plain(stamped))


# Running hooks


def _enter(event: str) -> int:
    depth = _depth.get()
    if depth >= MAX_DEPTH:
        raise HookDepthExceeded(f"'{event}' was emitted {depth} emits deep; at most {MAX_DEPTH}")
    _depth.set(depth + 1)
    return depth


_NOT_ASKED = object()


async def _ask_from(  # noqa: C901 - the loop that every audited event goes through
    index: int, run: Dispatch, answer: Any = _NOT_ASKED, watch: Watch | None = None
) -> Dispatch:
    """Run the hooks of a dispatch from one of them on; that one may have answered already."""
    steps = None
    for call, name, record in run.plan[index:]:
        if watch is not None:
            steps = watch.begin(record)
        try:
            if answer is _NOT_ASKED:
                if call is None or run.shared is None:
                    answer = record.execute(name, detach(run.data))
                else:
                    answer = call(name, run.shared)
            if type(answer) is CoroutineType or inspect.isawaitable(answer):
                answer = await (answer if steps is None else _Timed(answer, steps))
            untouched = answer is CONTINUE and run.shared == run.data
        except _FAILURES as error:
            answer, untouched = _failure(error), False
        finally:
            if watch is not None:
                watch.end(record)
        if not untouched and _settle(run, record, answer):
            break
        answer = _NOT_ASKED
    return run


async def _replies(run: Dispatch, timeout: float) -> AsyncIterator[Any]:
    for _, name, record in run.plan:
        limit = min(timeout, record.timeout or timeout)
        limited = HookHandler(record.handler, name=record.name, timeout=limit)
        try:
            result = await limited.execute(name, detach(run.data))
        except _FAILURES as error:
            _after_failure(run, limited, _failure(error))
            continue
        if result.data is not None:
            yield result.data


# What became of one handler


def _failure(error: BaseException) -> BaseException:
    """A failed hook, unless the running task itself is being cancelled."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise error
    return error


def _settle(run: Dispatch, record: HookHandler, answer: Any) -> bool:
    """Take an answer into the dispatch; True if it ends the chain."""
    if answer is not CONTINUE:
        _take(run, record, answer)
    if run.denied:
        run.ran = 1 + run.position(record)
        return True
    if run.shared is not None and not _equal(run.shared, run.data):
        _say_change_is_dropped(run, record)
        run.shared = copy_plain(run.data)
    return False


def _take(run: Dispatch, record: HookHandler, answer: Any) -> None:
    error = answer if isinstance(answer, BaseException) else None
    if error is None:
        try:
            result = read_answer(answer)
        except InvalidHookResult as caught:
            error = caught
    if error is not None:
        result = _after_failure(run, record, error)
    if result.action == "modify":
        _take_over(run, result.data)
    if result is not CONTINUE or error is not None:
        run.spoken.append(Answer(record, result, error))
    run.denied = result.action == "deny"


def read_answer(answer: Any) -> HookResult:
    """The HookResult in what a handler returned; None and dicts are understood."""
    if answer is None:
        return CONTINUE
    if isinstance(answer, dict):
        try:
            answer = HookResult(**answer)
        except (ValidationError, TypeError) as error:
            raise InvalidHookResult(f"returned a dict that is no HookResult: {error}") from error
    if not isinstance(answer, HookResult):
        raise InvalidHookResult(f"returned {type(answer).__name__}, not a HookResult")
    if answer.action == "modify" and not isinstance(answer.data, dict):
        raise InvalidHookResult("answered 'modify' without a dict in data")
    if answer.action not in STRONGEST_FIRST:
        raise InvalidHookResult(f"answered the unknown action {answer.action!r}")
    if answer.action == "inject_context" and (problem := find_problem(answer)):
        raise InvalidHookResult(f"wants to inject what is no text: {problem}")
    return answer


def _after_failure(run: Dispatch, record: HookHandler, error: BaseException) -> HookResult:
    cause = describe_error(error)
    if isinstance(error, InvalidHookResult):
        logger.warning("Hook '%s' on '%s' %s; ignored", record.name, run.event, error)
    else:
        logger.error("Hook '%s' failed on '%s': %s", record.name, run.event, cause, exc_info=error)
    if record.on_error != "deny":
        return CONTINUE
    reason = f"hook '{record.name}' failed and fails closed: {cause}"
    return HookResult(action="deny", reason=reason)


def _take_over(run: Dispatch, returned: Any) -> None:
    before = run.data
    run.data = adopt(returned, before)
    for key in PINNED:
        if key in before:
            run.data[key] = before[key]
        else:
            run.data.pop(key, None)
    run.shared = copy_plain(run.data)


def _equal(seen: dict[str, Any], current: dict[str, Any]) -> bool:
    try:
        return seen == current
    except Exception:  # noqa: BLE001 - a hook put something in that refuses to be compared
        return False


def _say_change_is_dropped(run: Dispatch, record: HookHandler) -> None:
    logger.warning(
        "Hook '%s' changed the data of '%s' in place; the change is dropped. "
        "Return HookResult(action='modify', data=...) to make it count",
        record.name,
        run.event,
    )


# Checks


def _default_name(handler: Any) -> str:
    name = getattr(handler, "__name__", None)
    return name if name and isinstance(name, str) else type(handler).__name__


def _identity(record: HookHandler) -> Any:
    """What makes two registrations one handler; a bound method is a new object at each look."""
    handler = record.handler
    if isinstance(handler, MethodType):
        return id(handler.__self__), id(handler.__func__)
    return id(handler)


def _takes_two(function: FunctionType) -> bool:
    return function.__code__.co_argcount == 2 and not function.__code__.co_kwonlyargcount


def _check_event(event: Any) -> None:
    if not isinstance(event, str):
        raise TypeError(f"An event name must be a string, got {event!r}")
    if not event.strip():
        raise ValueError(f"An event name must not be empty, got {event!r}")


def _check_priority(priority: Any) -> None:
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"A priority must be an integer, got {priority!r}")


def _check_limits(on_error: Any, timeout: Any) -> None:
    if on_error not in ("continue", "deny"):
        raise ValueError(f"on_error must be 'continue' or 'deny', got {on_error!r}")
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"A timeout must be a number of seconds, got {timeout!r}")
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"A timeout must be positive and finite, got {timeout!r}")


def _check_handler(handler: Any) -> None:
    if not callable(handler):
        raise TypeError(f"A hook handler must be callable, got {handler!r}")
    try:
        signature = inspect.signature(handler)
    except (TypeError, ValueError):
        return  # a builtin that keeps its signature to itself
    try:
        signature.bind("event", {})
    except TypeError as error:
        raise TypeError(
            f"A hook handler takes (event, data); '{_default_name(handler)}{signature}' does not"
        ) from error


def normalize_data(data: Any) -> dict[str, Any]:
    """Event data of the forms that modules emit: a mapping, a model, nothing, or one value."""
    if data is None:
        return {}
    if isinstance(data, Mapping | BaseModel):
        return dict(data)
    return {"data": data}

"""The registry of hooks: who listens to what, in which order, and what they answered.

Who is asked about an event is looked up at each event, from the registrations as they are then;
nothing is remembered that a new registration would have to correct.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from amplifier_core import events
from amplifier_core.correlation import TRACED, add_request_id
from amplifier_core.dispatch import Dispatch, Watch, collect_replies, depth, enter, run_dispatch
from amplifier_core.event_names import KNOWN, check_event, find_problem
from amplifier_core.handlers import (
    Mode,
    Registering,
    check_limits,
    check_priority,
    choose_mode,
    typed_like,
)
from amplifier_core.hook_counts import HookCounts
from amplifier_core.models import ContextInjection, HookResult, continue_with
from amplifier_core.payloads import normalize_data
from amplifier_core.registration import HookHandler
from amplifier_core.utils import timestamp
from amplifier_core.utils.calling import find_signature_problem

if TYPE_CHECKING:
    from amplifier_core.handlers import Handler, Limits, OnError


class RegistryNames:
    """`HookRegistry.TOOL_PRE` and the others, with the specification's spellings."""

    SESSION_START = events.SESSION_START
    SESSION_END = events.SESSION_END
    PROMPT_SUBMIT = events.PROMPT_SUBMIT
    TOOL_PRE = events.TOOL_PRE
    TOOL_POST = events.TOOL_POST
    CONTEXT_PRE_COMPACT: Final = "context:pre-compact"
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


__all__ = ["ContextInjection", "HookHandler", "HookRegistry", "HookResult", "normalize_data"]

logger = logging.getLogger(__name__)

Handlers = tuple[HookHandler, ...]

_execution_order = attrgetter("parallel", "locked", "priority", "id")


class _Registrations(NamedTuple):
    """All registrations of a registry; replaced, never changed: threads may look at any time."""

    by_event: Mapping[str, Handlers]
    """In the order of registration, by the event or pattern that they were made for."""
    patterns: tuple[str, ...]

    def replace(self, event: str, handlers: Handlers) -> _Registrations:
        """The same with other registrations for an event."""
        by_event = {**self.by_event, event: handlers}
        if not handlers:
            del by_event[event]
        if "*" not in event:
            return _Registrations(by_event, self.patterns)
        return _Registrations(by_event, tuple(one for one in by_event if "*" in one))

    def find(self, names: tuple[str, ...]) -> list[HookHandler]:
        """Those that an event of these names reaches."""
        found: list[HookHandler] = []
        for name in names:
            found += self.by_event.get(name, ())
        for pattern in self.patterns:
            if any(fnmatchcase(name, pattern) for name in names):
                found += self.by_event[pattern]
        return found


class HookRegistry(RegistryNames):
    """Manages hooks: registers them, emits events to them in priority order, folds what they say.

    A registry with a parent runs the parent's hooks too, merged into one order. In the mode
    `run_all`, the hooks behind one that denies still run, to no effect; in `evaluate_only`, no
    answer has an effect.
    """

    def __init__(self, parent: HookRegistry | None = None, mode: Mode = "enforce") -> None:
        self.parent = parent
        self._mode = choose_mode(mode, None if parent is None else parent.mode)
        self._registrations = _Registrations({}, ())
        self._lock = threading.Lock()
        """Held while the registrations are replaced."""
        self._times: Counter[tuple[str, tuple[int, ...]]] = Counter()
        """How often each function is registered for an event."""
        self._declared: frozenset[str] = frozenset()
        self._defaults: dict[str, Any] = {}
        self._former_counts: dict[str, HookCounts] = {}
        self._listeners: list[Callable[[str, HookHandler], None]] = []
        self.reporter: Callable[[Dispatch], Awaitable[None]] | None = None
        """Called with what had no effect when a module emits directly; set by the session."""
        self.clock: Callable[[], str] = timestamp
        """Tells when an event happens."""

    # Registration

    @typed_like(Registering.register)
    def register(
        self,
        event: Any,
        handler: Any = None,
        priority: int = 0,
        name: str | None = None,
        *,
        on_error: OnError = "continue",
        timeout: float | None = None,
        parallel: bool = False,
    ) -> Any:
        """Listen to an event or a pattern; lower priorities run first, equal ones in order.

        Returns what removes this registration. Without a handler it is a decorator.
        `on_error="deny"` makes it a guard: if it fails, the operation is denied. `timeout` is in
        seconds; running over it is a failure. `parallel=True` is for who only observes: it runs
        beside others of its kind, after all who may answer, and what it answers has no effect.
        """
        check_event(event)
        if handler is None:
            limits: Limits = {"on_error": on_error, "timeout": timeout, "parallel": parallel}
            return partial(self._decorate, event, priority, name=name, **limits)
        check_priority(priority)
        check_limits(on_error, timeout, parallel)
        problem = find_signature_problem(handler)
        if problem is not None and on_error == "deny":
            raise TypeError(f"A guard {problem}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"A hook's name must be a string, got {name!r}")
        record = HookHandler(
            handler,
            priority,
            name,
            event=event,
            on_error=on_error,
            timeout=timeout,
            parallel=parallel,
        )
        if problem is not None:  # modules register such handlers and never emit their event
            record.advise("parameters", problem)
        self._add(record)
        return partial(self.remove, record)

    on = register

    def _decorate(self, event: str, priority: int, handler: Handler, **settings: Any) -> Handler:
        if handler is None:
            raise TypeError("A hook handler must be callable, got None")
        self.register(event, handler, priority, **settings)
        return handler

    def _add(self, record: HookHandler) -> None:
        if record.event not in KNOWN:
            self._check_known(record)
        with self._lock:
            before = self._registrations.by_event.get(record.event, ())
            self._registrations = self._registrations.replace(record.event, (*before, record))
            is_twin = self._times[record.event, record.identity] > 0 and _is_twin(record, before)
            self._times[record.event, record.identity] += 1
        if is_twin:
            advice = f"is registered for {record.event!r} more than once, and runs each time"
            record.advise("twice", advice)
        self._announce("registered", record)

    def _check_known(self, record: HookHandler) -> None:
        """Refuse a guard on an event that will never come; warn who only looks."""
        problem = find_problem(record.event)
        if problem is None or self.declares(record.event):
            return
        if record.is_guard:
            raise ValueError(f"Guard '{record.name}' would never run: {problem}")
        record.advise("event", f"may never run: {problem}")

    def declare(self, *names: str) -> None:
        """Say that events of one's own will be emitted, so that hooks may rely on them.

        Needed only where a guard would be refused otherwise, and for lists: those say of every
        other event of a module's own that nobody has declared it.
        """
        for name in names:
            check_event(name)
        self._declared |= {*names}

    def declares(self, event: str) -> bool:
        """Whether an event that this name or pattern fits was declared."""
        own = event in self._declared or any(fnmatchcase(one, event) for one in self._declared)
        return own or (self.parent is not None and self.parent.declares(event))

    def unregister(self, name: str) -> int:
        """Remove every registration of that name; returns how many there were."""
        every = self._registrations.by_event.values()
        found = [one for handlers in every for one in sorted(handlers) if one.name == name]
        for record in found:
            self.remove(record)
        return len(found)

    unregister_by_name = unregister

    def remove(self, record: HookHandler) -> None:
        """Remove one registration; removing it twice changes nothing."""
        with self._lock:
            before = self._registrations.by_event.get(record.event, ())
            after = tuple(one for one in before if one is not record)
            if len(after) == len(before):
                return
            self._registrations = self._registrations.replace(record.event, after)
            self._times[record.event, record.identity] -= 1
            if not self._times[record.event, record.identity]:
                del self._times[record.event, record.identity]
        self._announce("unregistered", record)
        # An event that is under way may still call it, and a person answer its question.
        former = self._former_counts.setdefault(record.name, HookCounts())
        record.counts = former.add(record.counts)

    def move(self, record: HookHandler, priority: int) -> None:
        """Give a registration another place in the order; it keeps its identity."""
        check_priority(priority)
        with self._lock:
            if record not in self._registrations.by_event.get(record.event, ()):
                raise ValueError(f"{record!r} is not registered here")
            record.priority = priority
        self._announce("registered", record)

    def _announce(self, change: str, record: HookHandler) -> None:
        word = "for" if change == "registered" else "from"
        logger.debug(
            "%s hook '%s' %s event '%s'", change.capitalize(), record.name, word, record.event
        )
        for listener in self._listeners:
            listener(change, record)

    def listen(self, listener: Callable[[str, HookHandler], None]) -> Callable[[], None]:
        """Be told of each change: `("registered" | "unregistered", registration)`."""
        self._listeners = [*self._listeners, listener]
        return partial(self._stop_listening, listener)

    def _stop_listening(self, listener: Callable[[str, HookHandler], None]) -> None:
        self._listeners = [one for one in self._listeners if one is not listener]

    def set_default_fields(self, **defaults: Any) -> None:
        """Fields merged into every event; what the event itself says wins."""
        self._defaults = defaults

    @property
    def default_fields(self) -> dict[str, Any]:
        """A copy of them."""
        return dict(self._defaults)

    # Inspection

    @property
    def mode(self) -> Mode:
        """What the answers of its hooks may do; fixed when it is made."""
        return self._mode

    def has_listeners(self, event: str) -> bool:
        """Whether any hook listens to the event."""
        names = events.spellings(event)
        registry: HookRegistry | None = self
        while registry is not None:
            if registry._registrations.find(names):
                return True
            registry = registry.parent
        return False

    def handlers_for(self, event: str) -> list[HookHandler]:
        """The registrations that an event reaches, in execution order."""
        check_event(event)
        names = events.spellings(event)
        found: list[HookHandler] = []
        registry: HookRegistry | None = self
        while registry is not None:
            found += registry._registrations.find(names)
            registry = registry.parent
        if len(found) > 1:
            found.sort(key=_execution_order)
        if len(names) == 1:
            return found
        return _drop_other_spelling(found, event, names)

    def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """Names in execution order: of one event (patterns included), or of all registrations."""
        if event is not None:
            return {event: [record.name for record in self.handlers_for(event)]}
        found: dict[str, list[HookHandler]] = {}
        registry: HookRegistry | None = self
        while registry is not None:
            for spelled, handlers in registry._registrations.by_event.items():
                found.setdefault(spelled, []).extend(handlers)
            registry = registry.parent
        return {
            spelled: [record.name for record in sorted(handlers)]
            for spelled, handlers in found.items()
        }

    def count(self) -> dict[str, HookCounts]:
        """What each hook has done here and in child registries, by name; also those that left."""
        found = {name: HookCounts().add(counts) for name, counts in self._former_counts.items()}
        for handlers in self._registrations.by_event.values():
            for record in sorted(handlers):
                found.setdefault(record.name, HookCounts()).add(record.counts)
        return found

    def find_counts(self, name: str, event: str) -> HookCounts:
        """Where to count what a hook of that name did, if it is still here or not."""
        found = (one.counts for one in self.handlers_for(event) if one.name == name)
        return next(found, None) or self._former_counts.setdefault(name, HookCounts())

    # Emission

    async def emit(self, event: str, data: Mapping[str, Any] | None = None) -> HookResult:
        """Run every hook of the event in order; returns the strongest answer and the final data."""
        handlers = self.handlers_for(event)
        if not handlers:
            return continue_with({**self._defaults, **normalize_data(data)})
        run = self._begin(event, handlers, data)
        await run_dispatch(run)
        if self.reporter is not None and run.has_news:
            await self.reporter(run)
        return run.fold()

    async def dispatch(
        self,
        event: str,
        data: Mapping[str, Any] | None = None,
        watch: Watch | None = None,
        *,
        keep_output: bool = False,
    ) -> Dispatch:
        """The same as `emit`, every answer kept apart; `watch` sees each hook begin and end.

        `keep_output` keeps apart what each hook prints.
        """
        run = self._begin(event, self.handlers_for(event), data)
        run.printed = {} if keep_output else None
        await run_dispatch(run, watch)
        return run

    async def dispatch_again(
        self,
        before: Dispatch,
        data: dict[str, Any],
        watch: Watch | None = None,
        *,
        keep_output: bool = False,
    ) -> Dispatch:
        """Judge an operation once more, by the hooks of now; see `run_again`.

        `data` is what it was judged by before, or what a person made of it.
        """
        run = Dispatch(before.event, self.handlers_for(before.event), data, self._mode)
        run.printed = {} if keep_output else None
        await run_dispatch(run, watch, before)
        return run

    async def emit_and_collect(
        self, event: str, data: Mapping[str, Any] | None = None, timeout: float = 1.0
    ) -> list[Any]:
        """Ask every hook the same question; returns the `data` of each answer that has some.

        A hook that fails or takes longer than `timeout` seconds is skipped.
        """
        check_limits("continue", timeout)
        run = self._begin(event, self.handlers_for(event), data)
        del run.data["timestamp"]
        outside = enter(event)
        try:
            replies = [reply async for reply in collect_replies(run, timeout)]
            if self.reporter is not None and run.has_news:
                await self.reporter(run)
            return replies
        finally:
            depth.set(outside)

    def _begin(self, event: str, handlers: list[HookHandler], data: Any) -> Dispatch:
        given = {**self._defaults, **normalize_data(data)}
        given["timestamp"] = self.clock()
        if event in TRACED:
            add_request_id(event, given)
        return Dispatch(event, handlers, given, self._mode)


def _is_twin(record: HookHandler, others: Handlers) -> bool:
    """Whether its function listens to the event already, as a guard or at the same place.

    An observer may want to see the data twice, before and after other hooks.
    """
    twins = [one for one in others if one.identity == record.identity]
    return any(record.is_guard or one.priority == record.priority for one in twins)


def _drop_other_spelling(
    handlers: list[HookHandler], event: str, names: tuple[str, ...]
) -> list[HookHandler]:
    """Of a handler that listens to both spellings of an event, the one that was emitted counts."""
    told = {one.identity for one in handlers if one.event == event}
    return [
        one
        for one in handlers
        if one.event == event or one.event not in names or one.identity not in told
    ]

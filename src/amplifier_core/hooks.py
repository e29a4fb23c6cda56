"""The registry of hooks: who listens to what, in which order, and what they answered."""

from __future__ import annotations

import logging
import threading
from bisect import bisect_left, insort
from collections.abc import Awaitable, Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from heapq import merge
from itertools import chain
from operator import attrgetter, length_hint
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from amplifier_core import events
from amplifier_core.dispatch import (
    FAILURES,
    MAX_DEPTH,
    Dispatch,
    Watch,
    collect_replies,
    depth,
    enter,
    run_hooks,
    run_through,
    settle,
    take_failure,
)
from amplifier_core.events.data import normalize_data
from amplifier_core.events.handler import Registering, typed_like
from amplifier_core.events.limits import check_limits, check_priority
from amplifier_core.events.modes import Mode, choose_mode
from amplifier_core.events.names import KNOWN, check_event, find_problem
from amplifier_core.events.registry_names import RegistryNames
from amplifier_core.isolation import copy_plain
from amplifier_core.models import CONTINUE, ContextInjection, HookResult, continue_with
from amplifier_core.models.hook_counts import HookCounts
from amplifier_core.plan import Plan, PlanEntry
from amplifier_core.registration import HookHandler
from amplifier_core.utils import timestamp
from amplifier_core.utils.copying import NotPlain, copy_dict
from amplifier_core.utils.parameters import find_misfit
from amplifier_core.utils.request_ids import TRACED, add_request_id

if TYPE_CHECKING:
    from amplifier_core.events.handler import Handler, Limits, OnError

__all__ = ["ContextInjection", "HookHandler", "HookRegistry", "HookResult", "normalize_data"]

logger = logging.getLogger(__name__)

# Events whose order is remembered; a module that makes up names does not fill the memory.
MOST_PLANS = 1_000

_Entry = tuple[int, int, HookHandler]


class HookRegistry(RegistryNames):
    """Manages hooks: registers them, emits events to them in priority order, folds what they say.

    A registry with a parent runs the parent's hooks too, merged into one order. In the mode
    `run_all`, the hooks behind one that denies still run, to no effect; in `evaluate_only`, no
    answer has an effect.
    """

    def __init__(self, parent: HookRegistry | None = None, mode: Mode = "enforce") -> None:
        self.parent = parent
        self._mode = choose_mode(mode, None if parent is None else parent.mode)
        self._by_event: dict[str, list[_Entry]] = {}
        self._times: dict[tuple[str, Any], int] = {}
        self._declared: frozenset[str] = frozenset()
        self._defaults: dict[str, Any] = {}
        self._plans: dict[str, Plan] = {}
        # Whether a hook may listen to one of these events; exact if it is looked up.
        self.heard, self.looked_up = events.each_turn.copy(), False
        self._gone: dict[str, HookCounts] = {}
        self._children: WeakSet[HookRegistry] = WeakSet()
        self._listeners: list[Callable[[str, HookHandler], None]] = []
        self.reporter: Callable[[Dispatch], Awaitable[None]] | None = None
        """Who is told of what hooks did to no effect when somebody emits directly: the session."""
        self.timed = False
        """Whether every hook is timed, because a trail wants to know, or some now and then."""
        self._lock = threading.Lock()
        if parent is not None:
            parent._children.add(self)

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
        if handler is None:
            check_event(event)
            limits: Limits = {"on_error": on_error, "timeout": timeout, "parallel": parallel}
            return partial(self._decorate, event, priority, name=name, **limits)
        if type(event) is not str or not event.strip() or type(priority) is not int:
            check_event(event)
            check_priority(priority)
        if on_error != "continue" or timeout is not None or parallel:
            check_limits(on_error, timeout, parallel)
        misfit = find_misfit(handler)
        if misfit is not None and on_error == "deny":
            raise TypeError(f"A guard {misfit}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"A hook's name must be a string, got {name!r}")
        record = HookHandler(
            handler, priority, name, event=event, on_error=on_error, timeout=timeout
        )
        record.parallel = parallel
        if misfit is not None:  # modules register such handlers and never emit their event
            record.advise("parameters", misfit)
        self._add(record)
        return partial(self.remove, record)

    on = register

    def _add(self, record: HookHandler) -> None:
        if record.event not in KNOWN:
            self._check_known(record)
        with self._lock:
            entries = self._by_event.setdefault(record.event, [])
            insort(entries, (record.priority, record.id, record))
            is_twin = self._count_twins(record)
        if is_twin:
            advice = f"is registered for {record.event!r} more than once, and runs each time"
            record.advise("twice", advice)
        self._changed("registered", record)

    def _check_known(self, record: HookHandler) -> None:
        """Refuse a guard on an event that will never come; warn who only looks."""
        problem = find_problem(record.event)
        if problem is None or self.declares(record.event):
            return
        if record.is_guard:
            raise ValueError(f"Guard '{record.name}' would never run: {problem}")
        record.advise("event", f"may never run: {problem}")

    def _count_twins(self, record: HookHandler) -> bool:
        """Whether its function listens to the event already, as a guard or at the same place.

        Whoever only looks may want to look twice, before and after others.
        """
        key = (record.event, record.identity)
        self._times[key] = times = self._times.get(key, 0) + 1
        if times == 1 or record.is_guard:
            return times > 1
        entries = self._by_event[record.event]
        places = [place for place, _, one in entries if one.identity == record.identity]
        return places.count(record.priority) > 1

    def declare(self, *names: str) -> None:
        """Say that events of one's own will be emitted, so that hooks may rely on them.

        Needed only where a guard would be refused otherwise, and for lists: those say of every
        other event of a module's own that nobody has declared it.
        """
        for name in names:
            check_event(name)
        self._declared |= {*names}

    def declares(self, event: str) -> bool:
        """Whether somebody has declared an event that this name or pattern fits."""
        own = event in self._declared or any(fnmatchcase(one, event) for one in self._declared)
        return own or (self.parent is not None and self.parent.declares(event))

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
        check_priority(priority)
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
            key = (record.event, record.identity)
            self._times[key] -= 1
            if not self._times[key]:
                del self._times[key]
        self._changed("unregistered", record)
        # An event that is under way may still call it, and somebody answer what it asked.
        record.counts = self._gone.setdefault(record.name, HookCounts()).add(record.counts)

    def _changed(self, change: str, record: HookHandler) -> None:
        self._forget_plans()
        if logger.isEnabledFor(logging.DEBUG):
            verb, word = change.capitalize(), "for" if change == "registered" else "from"
            logger.debug("%s hook '%s' %s event '%s'", verb, record.name, word, record.event)
        for listener in self._listeners:
            listener(change, record)

    def _forget_plans(self) -> None:
        for plan in list(self._plans.values()):
            plan.count_quiet()  # now: a result that somebody keeps keeps its plan
        self._plans = {}
        if self.looked_up:
            self.looked_up = False  # before the table, which somebody may be looking up now
            self.heard.update(events.each_turn)
        for child in list(self._children) if self._children else ():
            child._forget_plans()

    def count(self) -> dict[str, HookCounts]:
        """What each hook has done here and in child registries, by name; also those that left."""
        for plans in (one._plans for one in (self, *self._children)):
            for plan in list(plans.values()):
                plan.count_quiet()
        found = {name: HookCounts().add(counts) for name, counts in self._gone.items()}
        for _, entries in self._snapshot():
            for _, _, record in entries:
                found.setdefault(record.name, HookCounts()).add(record.counts)
        return found

    def find_counts(self, name: str, event: str) -> HookCounts:
        """Where to count what a hook of that name did, if it is still here or not."""
        found = (one.counts for one in self.handlers_for(event) if one.name == name)
        return next(found, None) or self._gone.setdefault(name, HookCounts())

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

    def hears(self, event: str) -> bool:
        """Whether any hook listens to the event."""
        plan = self._plans.get(event)
        return bool((self._plan(event) if plan is None else plan).entries)

    def look_up(self) -> None:
        """Find out which events of each turn somebody hears; the others need not be told of."""
        plans = self._plans
        self.heard.update({event: self.hears(event) for event in events.each_turn})
        self.looked_up = True
        if self._plans is not plans:  # a registration changed meanwhile
            self.heard.update(events.each_turn)

    def handlers_for(self, event: str) -> list[HookHandler]:
        """The registrations an event reaches, in execution order."""
        return [record for _, _, record in self._plan(event).entries]

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
            check_event(event)
            plans = self._plans if len(self._plans) < MOST_PLANS else {}
            plan = plans[event] = Plan(event, self._entries_for(event), self._mode)
        return plan

    def _entries_for(self, event: str) -> Iterable[PlanEntry]:
        names, traced = events.spellings(event), event in TRACED
        lists = self._matching(names)
        records = [entry[2] for entry in (merge(*lists) if len(lists) > 1 else chain(*lists))]
        records.sort(key=attrgetter("parallel", "locked"))
        # A handler that listens to both spellings is told the one that was emitted, once.
        told = {r.identity for r in records if r.event == event} if len(names) > 1 else ()
        for record in records:
            heard = record.event
            if heard != event and heard in names and record.identity in told:
                continue
            careful = traced or record.is_guard or record.timeout is not None or record.parallel
            name = heard if heard in names else event
            yield None if careful else record.handler, name, record

    def _matching(self, names: tuple[str, ...]) -> list[list[_Entry]]:
        with self._lock:
            own = [
                entries.copy()
                for heard, entries in self._by_event.items()
                if heard in names or ("*" in heard and any(fnmatchcase(n, heard) for n in names))
            ]
        return own if self.parent is None else own + self.parent._matching(names)

    # Emission

    async def emit(self, event: str, data: Mapping[str, Any] | None = None) -> HookResult:  # noqa: C901 - one frame, because each costs as much as a hook
        """Run every hook of the event in order; returns the strongest answer and the final data."""
        try:
            plan = self._plans[event]
        except (KeyError, TypeError):
            plan = self._plan(event)
        if type(data) is not dict:
            data = normalize_data(data)
        if not plan.entries:
            return continue_with({**self._defaults, **data})
        calls, here = plan.calls, depth.get()
        if calls is None or here >= MAX_DEPTH or plan.quiet >= plan.due:
            return await self._finish(await run_through(self._begin(event, data)))
        current = {**self._defaults, **data}
        current["timestamp"] = timestamp()
        try:
            seen = copy_dict(current)
        except (NotPlain, RecursionError):
            return await self._finish(await run_through(self._begin(event, data)))
        depth.set(here + 1)
        try:
            # The path of events to which every hook says continue; the first other word leaves it.
            waiting = iter(calls)
            for call in waiting:
                try:
                    answer = await call(event, seen)
                    if answer is CONTINUE and seen == current:
                        continue
                except FAILURES as error:
                    answer = take_failure(error)
                break
            else:
                plan.quiet += 1
                return continue_with(current)
            run = Dispatch(event, plan, current, seen)
            index = len(calls) - length_hint(waiting)
            is_over = settle(run, plan.entries[index - 1][2], answer)
            if not is_over and (index < len(calls) or plan.mode != "enforce"):
                await run_hooks(run, index)
            if run.ran == len(calls):
                plan.quiet += 1
            else:
                plan.count_run(run.ran, run.times)
            told = run.troubles or run.shadowed or event in events.notifications
            return await self._finish(run) if told else run.fold()
        finally:
            depth.set(here)

    async def dispatch(
        self,
        event: str,
        data: Mapping[str, Any] | None = None,
        watch: Watch | None = None,
        before: Dispatch | None = None,
    ) -> Dispatch:
        """The same as `emit`, every answer kept apart; `watch` sees each hook begin and end.

        With `before` it is that operation, judged once more: see `run_again`.
        """
        return await run_through(self._begin(event, data, before is None), watch, before)

    async def emit_and_collect(
        self, event: str, data: Mapping[str, Any] | None = None, timeout: float = 1.0
    ) -> list[Any]:
        """Ask every hook the same question; returns the `data` of each answer that has some.

        A hook that fails or takes longer than `timeout` seconds is skipped.
        """
        check_limits("continue", timeout)
        run = self._begin(event, data)
        del run.data["timestamp"]
        before = enter(event)
        try:
            replies = [reply async for reply in collect_replies(run, timeout)]
            await self._finish(run)
            return replies
        finally:
            depth.set(before)

    async def _finish(self, run: Dispatch) -> HookResult:
        if self.reporter is not None and (run.troubles or run.shadowed or run.ignored):
            await self.reporter(run)
        return run.fold()

    def _begin(self, event: str, data: Any, is_new: bool = True) -> Dispatch:
        if type(data) is not dict:
            data = normalize_data(data)
        if is_new:
            data = {**self._defaults, **data}
            data["timestamp"] = timestamp()
            if event in TRACED:
                add_request_id(event, data)
        run = Dispatch(event, self._plan(event), data, copy_plain(data))
        run.timed = run.plan.take_turn() or self.timed or not is_new
        return run

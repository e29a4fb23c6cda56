"""The counters of hooks, worked out from what trails tell.

Trails are counted in one way, by `count_item`: `amplifier audit stats`, `hooks stats`, reports, the
MCP server and the store all use it. The figures mean what the session itself counted: see
`HookCounts`. A trail of the level `decisions` has no answers that were a plain continue; how
often its hooks were called is taken from the session's own figures, which stand in its last record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from amplifier_audit.own_records import LogOpened
from amplifier_core.hook_counts import HookCounts
from amplifier_core.records import (
    AnswerIgnored,
    AnswerShadowed,
    DenialContradicted,
    DispatchRecorded,
    HookAnswer,
    InjectionAccepted,
    SessionEnded,
    SessionStarted,
)
from amplifier_hooks.trails.bodies import Body
from amplifier_hooks.trails.quiet import QuietEvent, read_answer
from amplifier_hooks.trails.recorded import (
    Item,
    Note,
    RecordedApproval,
    RecordedEvent,
    RecordedHook,
)

MOST_HOOKS = 2_000
"""Names that are kept apart; hooks beyond these are counted together."""

OTHERS = "(others)"

SHADOW = "shadow:"
"""What stands before an action that shadow mode kept from happening."""

_MOST_LATEST = 2_000
_MOST_ALIKE = 5_000

_MOST_TOKENS = 2**40
"""What claims more is forged; one such figure would spoil the sums of all time."""

Find = Callable[[str, str], HookCounts]
"""Where to count: the figures of a hook, or those of one of its answers."""


def count_item(item: Item, find: Find) -> None:
    """Count what one item says that hooks did."""
    if isinstance(item, RecordedEvent):
        for answer in item.answers:
            _count_answer(answer, find)
    elif isinstance(item, RecordedApproval):
        _count_approval(item, find(item.hook, "ask_user"))
    elif isinstance(item, Note):
        _count_note(item, find)


def _count_answer(answer: HookAnswer, find: Find) -> None:
    action = "continue" if answer.unheeded else answer.action
    counts = find(answer.hook, SHADOW + answer.shadowed if answer.shadowed else action)
    counts.calls += 1
    if answer.ms is not None:
        counts.count_time(answer.ms / 1000)
    if answer.shadowed:
        counts.count_answer(answer.shadowed, shadowed=True, unheeded=False)
    elif answer.action != "continue":
        counts.count_answer(answer.action, shadowed=False, unheeded=answer.unheeded)
    if answer.error is not None:
        counts.count_failure(answer.timed_out is True)


def _count_approval(step: RecordedApproval, counts: HookCounts) -> None:
    if step.stage == "requested":
        counts.asked += not step.again
    elif step.stage == "handed_over":
        if not step.again:
            counts.count_handover()
    elif step.stage == "outcome":
        counts.count_outcome(step.state, step.settles)
    elif step.stage == "remembered":
        counts.remembered += 1
    elif step.stage in ("decided", "expired"):
        counts.retract(step.settles)
        counts.count_decision(step.allowed, "timeout" if step.stage == "expired" else step.how)


def _count_note(item: Note, find: Find) -> None:
    body = item.body
    if isinstance(body, HookAnswer):
        _count_answer(body, find)
    elif isinstance(body, DispatchRecorded):  # one without the event's data
        for answer in body.hooks:
            _count_answer(answer, find)
    elif item.hook:  # else no hook said it, but what runs them
        _count_effect(item.hook, body, find)


def _count_effect(hook: str, body: Body, find: Find) -> None:
    """What became of an answer."""
    if isinstance(body, DenialContradicted):
        find(hook, "deny").contradicted += 1
    elif isinstance(body, AnswerIgnored):
        find(hook, body.action).count_ignored(body.action)
    elif isinstance(body, InjectionAccepted) and 0 <= body.tokens <= _MOST_TOKENS:
        find(hook, "inject_context").injected_tokens += body.tokens


def recount(items: Iterable[Item]) -> dict[str, HookCounts]:
    """What each hook of a trail did, by name; also those that were never called."""
    found = Recount()
    for item in items:
        found.take(item)
    found.end_trail()
    return found.hooks


class Recount:
    """Adds up trails, one item after another, in bounded memory."""

    def __init__(self) -> None:
        self.hooks: dict[str, HookCounts] = {}
        self.trails = 0
        self.registered: dict[str, int] = {}
        """In how many trails a hook of that name was registered."""
        self.unsure: set[str] = set()
        """The hooks whose calls were not all recorded: there were at least as many."""
        self.contradicted = 0
        """Calls that were denied, by whomever, and ran all the same."""
        self._here: set[str] = set()
        self._resolved: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._running: set[str] = set()
        self._latest: list[bytes] = []
        self._alike: Counter[bytes] = Counter()
        self.sparse = False
        """Whether the trail that is being read has decisions only."""

    def take(self, item: Item) -> None:
        """Count what one item tells."""
        if isinstance(item, QuietEvent):
            self._latest += item.answers
            if len(self._latest) > _MOST_LATEST:
                self._gather_answers()
            return
        if isinstance(item, RecordedHook):
            self.find(item.name)
            self._here.add(self._keep_name(item.name))
            return
        if isinstance(item, Note):
            self._take_note(item)
        count_item(item, self.find)

    def end_trail(self) -> None:
        """One trail has been read to its end: what only its sum can tell is counted now."""
        self._count_answers()
        self.trails += 1
        for name in self._here:
            self.registered[name] = self.registered.get(name, 0) + 1
        if self.sparse:
            self._add_told_calls()
        self._here = set()
        self._resolved = {}
        self._told = {}
        self._running = set()
        self.sparse = False

    def _gather_answers(self) -> None:
        """Most quiet answers are the same as others: those are counted together."""
        self._alike.update(self._latest)
        self._latest = []
        if len(self._alike) > _MOST_ALIKE:
            self._count_answers()

    def _count_answers(self) -> None:
        self._alike.update(self._latest)
        alike = self._alike
        self._alike = Counter()
        self._latest = []
        for answer, calls in alike.items():
            name, milliseconds = read_answer(answer)
            counts = self.find(name)
            counts.calls += calls
            counts.count_time(milliseconds / 1000, calls)

    def _add_told_calls(self) -> None:
        for name, told in self._told.items():
            self.find(name).calls += max(0, told - self._resolved.get(name, 0))
        if self._running or not self._told:
            self.unsure |= self._here | self._resolved.keys()

    def find(self, name: str, _action: str = "") -> HookCounts:
        """The figures of a hook."""
        return self.hooks.setdefault(self._keep_name(name), HookCounts())

    def _keep_name(self, name: str) -> str:
        if name in self.hooks:
            return name
        self._count_answers()  # who came first is kept apart
        return name if name in self.hooks or len(self.hooks) < MOST_HOOKS else OTHERS

    def _take_note(self, item: Note) -> None:
        match item.body:
            case DenialContradicted():
                self.contradicted += 1
            case LogOpened(level="decisions"):
                self.sparse = True
            case HookAnswer(hook=hook):
                self.sparse = True
                name = self._keep_name(hook)
                self._resolved[name] = self._resolved.get(name, 0) + 1
            case AnswerShadowed(action=action) if self.sparse:  # else its event has the answer
                self.find(item.hook).count_answer(action, shadowed=True, unheeded=False)
            case SessionStarted():
                self._running.add(item.session)
            case SessionEnded(stats=stats) if item.session in self._running:
                # Of a session that began before what is read, the sums are those of more than that.
                self._running.discard(item.session)
                self._take_figures(stats)

    def _take_figures(self, stats: Mapping[str, Any]) -> None:
        """How often hooks were called, as the session itself counted."""
        for name, calls in list_told_calls(stats).items():
            kept = self._keep_name(name)
            self._told[kept] = self._told.get(kept, 0) + calls


def list_told_calls(stats: Mapping[str, Any]) -> dict[str, int]:
    """How often each hook was called, as a session itself said at its end."""
    hooks = stats.get("hooks")
    told = hooks.items() if isinstance(hooks, dict) else ()
    calls = {name: one.get("calls") for name, one in told if isinstance(one, dict)}
    return {name: count for name, count in calls.items() if type(count) is int and count > 0}

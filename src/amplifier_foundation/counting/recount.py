"""The counters of hooks, worked out again from what trails tell.

The figures mean what the session itself counted: see `HookCounts`. A trail of the level
`decisions` has no answers that were a plain continue; how often its hooks were called is taken
from the session's own figures, which stand in its last record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from amplifier_core.models.hook_counts import HookCounts
from amplifier_foundation.history import (
    Item,
    Note,
    RecordedAnswer,
    RecordedApproval,
    RecordedEvent,
    RecordedHook,
)
from amplifier_foundation.history.reading import read_answer

MOST_HOOKS = 2_000
"""Names that are kept apart; hooks beyond these are counted together."""

OTHERS = "(others)"


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
        self._here: set[str] = set()
        self._resolved: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._running: set[str] = set()
        self.sparse = False
        """Whether the trail that is being read has decisions only."""

    def take(self, item: Item) -> None:
        """Count what one item tells."""
        if isinstance(item, RecordedEvent):
            for answer in item.answers:
                self._count_answer(answer)
        elif isinstance(item, RecordedApproval):
            self._count_approval(self.find(item.hook), item)
        elif isinstance(item, RecordedHook):
            self.find(item.name)
            self._here.add(self._keep_name(item.name))
        else:
            self._take_other(item)

    def end_trail(self) -> None:
        """One trail has been read to its end: what only its sum can tell is counted now."""
        self.trails += 1
        for name in self._here:
            self.registered[name] = self.registered.get(name, 0) + 1
        if self.sparse:
            self._add_told_calls()
        self._here, self._resolved, self._told, self._running = set(), {}, {}, set()
        self.sparse = False

    def _add_told_calls(self) -> None:
        for name, told in self._told.items():
            self.find(name).calls += max(0, told - self._resolved.get(name, 0))
        if self._running or not self._told:
            self.unsure |= self._here | self._resolved.keys()

    def find(self, name: str) -> HookCounts:
        """The figures of a hook."""
        return self.hooks.setdefault(self._keep_name(name), HookCounts())

    def _keep_name(self, name: str) -> str:
        return name if name in self.hooks or len(self.hooks) < MOST_HOOKS else OTHERS

    def _count_answer(self, answer: RecordedAnswer) -> None:
        counts = self.find(answer.hook)
        counts.calls += 1
        if answer.ms is not None and answer.ms >= 0:
            counts.count_time(answer.ms / 1000)
        if answer.shadowed:
            counts.count_answer(answer.shadowed, shadowed=True, unheeded=False)
        elif answer.action != "continue":
            counts.count_answer(answer.action, shadowed=False, unheeded=answer.unheeded)
        if answer.error is not None:
            counts.count_failure(answer.timed_out)

    def _count_approval(self, counts: HookCounts, step: RecordedApproval) -> None:
        if step.stage == "requested":
            counts.asked += 1
        elif step.stage == "remembered":
            counts.remembered += 1
        elif step.stage in ("decided", "expired"):
            counts.count_decision(step.allowed, step.how)

    def _take_other(self, item: Item) -> None:
        if not isinstance(item, Note):
            return
        if item.type == "injection_accepted":
            tokens = item.body.get("tokens")
            self.find(item.hook).injected_tokens += tokens if type(tokens) is int else 0
        elif item.type == "log_opened":
            self.sparse = self.sparse or item.body.get("level") == "decisions"
        elif item.type == "session_started":
            self._running.add(item.session)
        elif item.type == "session_ended":
            self._running.discard(item.session)
            self._take_figures(item.body)
        else:
            self._take_decision(item)

    def _take_decision(self, item: Note) -> None:
        if item.type == "action_resolved":
            self.sparse = True
            self._count_resolved(item)
        elif item.type == "shadowed" and self.sparse:
            action = str(item.body.get("action"))
            self.find(item.hook).count_answer(action, shadowed=True, unheeded=False)

    def _count_resolved(self, item: Note) -> None:
        """An answer of a trail that has decisions only."""
        answer = read_answer({"hook": item.hook, **item.body})
        self._count_answer(answer)
        name = self._keep_name(answer.hook)
        self._resolved[name] = self._resolved.get(name, 0) + 1

    def _take_figures(self, body: Mapping[str, Any]) -> None:
        """How often hooks were called, as the session itself counted."""
        stats = body.get("stats")
        figures = stats.get("hooks") if isinstance(stats, dict) else None
        for name, one in figures.items() if isinstance(figures, dict) else ():
            calls = one.get("calls") if isinstance(one, dict) else None
            if type(calls) is int and calls > 0:
                kept = self._keep_name(name)
                self._told[kept] = self._told.get(kept, 0) + calls

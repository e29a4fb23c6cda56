"""Figures of hooks, counted from trails; how each stands, and what shadow mode withheld."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from amplifier_audit import AuditError
from amplifier_audit.own_records import LogOpened
from amplifier_core.hook_counts import HookCounts
from amplifier_core.records import AnswerShadowed, plain
from amplifier_hooks.guards.backup import Restoration, list_restorations, locate_store
from amplifier_hooks.guards.policy.tool_calls import find_path
from amplifier_hooks.trails import (
    Item,
    Note,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
    read_history,
)
from amplifier_hooks.trails.bodies import BundleLoaded
from amplifier_hooks.trails.quiet import QuietEvent
from amplifier_hooks.trails.recount import Recount as Recount
from amplifier_hooks.trails.recount import recount as recount

MOST_HOOKS = 500
LONGEST = 300
_MAIN_FIELDS = ("command", "url", "query", "pattern", "prompt")


@dataclass(slots=True)
class Example:
    """One thing that did not happen."""

    time: str
    trail: str
    session: str
    sequence: int
    event: str
    tool: str
    about: str
    would: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Shadows:
    """The latest examples of each hook, by the action that was kept from happening."""

    def __init__(self, most: int = 3) -> None:
        self.examples: dict[str, dict[str, list[Example]]] = {}
        self.trail = ""
        """The path of the trail that is being read."""
        self._most = most

    def add(self, item: Item) -> None:
        """Look at one item; what a hook would have done is told behind its event."""
        if isinstance(item, RecordedEvent):
            for answer in item.answers:
                if answer.shadowed:
                    self._keep(answer.hook, answer.shadowed, _describe(item, self.trail))
        elif isinstance(item, Note) and isinstance(item.body, AnswerShadowed):
            self._complete(item, item.body)

    def _keep(self, hook: str, action: str, example: Example) -> None:
        if hook not in self.examples and len(self.examples) >= MOST_HOOKS:
            return
        kept = self.examples.setdefault(hook, {}).setdefault(action, [])
        kept.append(example)
        del kept[: -self._most]

    def _complete(self, note: Note, body: AnswerShadowed) -> None:
        action = body.action
        kept = self.examples.get(note.hook, {}).get(action, [])
        open_ones = (one for one in kept if not one.would and one.session == note.session)
        found = next(open_ones, None)
        if found is None:  # a trail of decisions has the notes only
            where = (note.time, self.trail, note.session, note.sequence, note.event)
            found = Example(*where, tool="", about="")
            self._keep(note.hook, action, found)
        found.would = plain(body.would)[:LONGEST]


def _describe(item: RecordedEvent, trail: str) -> Example:
    tool = item.data.get("tool_name")
    about = item.data.get("tool_input")
    return Example(
        item.time,
        trail,
        item.session,
        item.sequence,
        item.event,
        tool if isinstance(tool, str) else "",
        _summarize(about) if isinstance(about, Mapping) else "",
    )


def _summarize(tool_input: Mapping[str, Any]) -> str:
    main = find_path(tool_input)
    if main is None:
        main = next((str(tool_input[key]) for key in _MAIN_FIELDS if key in tool_input), "")
    return main.split("\n", 1)[0][:LONGEST]


MOST_WAITING = 1_000


def read_restorations(folder: str) -> list[Restoration]:
    """What was put back in a folder."""
    return list_restorations(locate_store(Path(folder))) if folder else []


class Undone:
    """Counts, for each guard, the calls that it let pass and that were undone."""

    def __init__(self, read: Callable[[str], Iterable[Restoration]] = read_restorations) -> None:
        self.counts: dict[str, int] = {}
        self._read = read
        self._known: dict[str, list[Restoration]] = {}
        self._folder = ""
        self._guards: set[int] = set()
        self._waiting: dict[tuple[str, str], tuple[str, ...]] = {}

    def add(self, item: Item) -> None:
        """Look at one item."""
        if isinstance(item, RecordedHook):
            self._guards |= {item.id} if item.on_error == "deny" else set()
        elif isinstance(item, RecordedEvent):
            self._take_event(item)
        elif isinstance(item, RecordedCall):
            self._take_call(item)
        elif isinstance(item, Note) and isinstance(item.body, BundleLoaded):
            self._folder = item.body.folder

    def _take_event(self, item: RecordedEvent) -> None:
        if item.event == "tool:pre" and not item.again and self._is_undone(item):
            self._wait_for(item)

    def _take_call(self, item: RecordedCall) -> None:
        if item.stage == "started":
            for hook in self._waiting.pop((item.session, item.call_id), ()):
                self.counts[hook] = self.counts.get(hook, 0) + 1

    def end_trail(self) -> None:
        """The next trail has other registrations."""
        self._guards.clear()
        self._waiting.clear()
        self._folder = ""

    def _wait_for(self, item: RecordedEvent) -> None:
        """Remember who judged a call, until it runs."""
        judges = (
            one
            for one in item.answers
            if not one.shadowed and (one.id in self._guards or one.action == "ask_user")
        )
        if len(self._waiting) < MOST_WAITING:
            key = (item.session, str(item.data.get("tool_call_id") or ""))
            self._waiting[key] = tuple(dict.fromkeys(one.hook for one in judges))

    def _is_undone(self, item: RecordedEvent) -> bool:
        if self._folder not in self._known:
            self._known[self._folder] = list(self._read(self._folder))
        known = self._known[self._folder]
        path = find_path(item.left.get("tool_input")) if known else None
        if path is None:
            return False
        at = datetime.fromisoformat(item.time)
        full = str(Path(self._folder) / path)
        return any(one.path == full and one.span[0] <= at <= one.span[1] for one in known)


Standing = Literal["failing", "dead", "slow", "noisy", "quiet", "active"]

STANDINGS: tuple[Standing, ...] = get_args(Standing)
"""The first that fits is the one."""

FAILING = 0.01
"""Share of calls that may fail."""
SLOW_MS = 100.0
NOISY = 0.9
"""Share of its questions that people allow, from which on a hook asks for nothing."""
LEAST_ASKED = 5


def judge_standing(counts: HookCounts, *, everywhere: bool = False, sure: bool = True) -> Standing:
    """The word for a hook; `everywhere` if each session had it, `sure` if all calls are known."""
    if counts.failures and counts.failures >= FAILING * counts.calls:
        return "failing"
    if not counts.calls:
        return "dead" if everywhere and sure else "quiet"
    if (counts.find_quantile(0.99) or 0.0) > SLOW_MS:
        return "slow"
    if counts.asked >= LEAST_ASKED and counts.overruled >= NOISY * counts.asked:
        return "noisy"
    return "active" if counts.answers or counts.shadowed or counts.unheeded else "quiet"


_HEARD = frozenset({"tool:pre"})
"""The events of which more is counted than what hooks answered."""


class Survey:
    """Reads trails one after another, and keeps figures of them only."""

    def __init__(self, since: str = "") -> None:
        self.found = Recount()
        self.shadows = Shadows()
        self.undone = Undone()
        self.first = self.last = ""
        self.unreadable: dict[str, str] = {}
        """The trails that could not be read to their end, each with the reason."""
        self._since = since

    def read(self, path: Path, watch: Any = iter) -> None:
        """Take a whole trail in; `watch` is given its items and hands them on."""
        self.shadows.trail = str(path)
        try:
            self.add_all(watch(read_history(path, _HEARD)))
        except (AuditError, OSError) as error:
            self.unreadable[str(path)] = str(error)
        self.end_trail()

    def add_all(self, items: Iterable[Item]) -> None:
        """Take items in that are recent enough; what a trail begins with counts for all of it."""
        for item in items:
            if isinstance(item, RecordedHook) or self._is_wanted(item):
                self.found.take(item)
                if not isinstance(item, QuietEvent):
                    self.shadows.add(item)
                    self.undone.add(item)

    def end_trail(self) -> None:
        """The trail has been read to its end."""
        self.found.end_trail()
        self.undone.end_trail()

    def _is_wanted(self, item: Any) -> bool:
        if item.counted_at < self._since:
            return isinstance(item, Note) and isinstance(item.body, LogOpened | BundleLoaded)
        self.first = min(self.first or item.time, item.time)
        self.last = max(self.last, item.time)
        return True

    def to_dict(self, hook: str | None = None) -> dict[str, Any]:
        """Everything, for machines; of one hook, if named."""
        names = sorted(self.found.hooks) if hook is None else [hook]
        return {
            "version": 1,
            "trails": self.found.trails,
            "first": self.first or None,
            "last": self.last or None,
            "contradicted": self.found.contradicted,
            "unreadable": self.unreadable,
            "hooks": {name: self._describe(name) for name in names if name in self.found.hooks},
        }

    def _describe(self, name: str) -> dict[str, Any]:
        counts = self.found.hooks[name]
        found = self.found
        sessions = found.registered.get(name, 0)
        sure = not found.sparse and name not in found.unsure
        everywhere = 0 < found.trails == sessions
        examples = self.shadows.examples.get(name, {})
        return {
            "standing": judge_standing(counts, everywhere=everywhere, sure=sure),
            "sessions": sessions,
            "calls_known": sure,
            **counts.to_dict(),
            "overruled_share": share_overruled(counts),
            "undone": self.undone.counts.get(name, 0),
            "examples": {k: [one.to_dict() for one in kept] for k, kept in examples.items()},
        }


def share_overruled(counts: HookCounts) -> float | None:
    """Of the questions that were decided, the share that people allowed."""
    decided = counts.allowed + counts.refused + counts.expired + counts.not_run
    return counts.overruled / decided if decided else None

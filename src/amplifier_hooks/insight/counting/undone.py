"""Calls that guards let pass and people have undone since, by `amplifier backups restore`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from amplifier_hooks.guards.backup import Restoration, list_restorations, locate_store
from amplifier_hooks.guards.policy.tool_calls import find_path
from amplifier_hooks.trails import Item, Note, RecordedCall, RecordedEvent, RecordedHook
from amplifier_hooks.trails.bodies import BundleLoaded

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

    def take(self, item: Item) -> None:
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
        at, full = datetime.fromisoformat(item.time), str(Path(self._folder) / path)
        return any(one.path == full and one.span[0] <= at <= one.span[1] for one in known)

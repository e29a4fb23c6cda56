"""A survey of trails: what each hook did, how it stands, and what it would have done."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from amplifier_audit import AuditError
from amplifier_audit.own_records import LogOpened
from amplifier_core.models.hook_counts import HookCounts
from amplifier_hooks.insight.counting.shadows import Shadows
from amplifier_hooks.insight.counting.standing import judge_standing
from amplifier_hooks.insight.counting.undone import Undone
from amplifier_hooks.trails import Item, Note, RecordedHook, read_history
from amplifier_hooks.trails.bodies import BundleLoaded
from amplifier_hooks.trails.recount import Recount


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
            self.take_all(watch(read_history(path)))
        except (AuditError, OSError) as error:
            self.unreadable[str(path)] = str(error)
        self.end_trail()

    def take_all(self, items: Iterable[Item]) -> None:
        """Take items in that are recent enough; what a trail begins with counts for all of it."""
        for item in items:
            if isinstance(item, RecordedHook) or self._is_wanted(item):
                self.found.take(item)
                self.shadows.take(item)
                self.undone.take(item)

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
        counts, found = self.found.hooks[name], self.found
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

"""Reads what a backtest needs of a trail, and skips lines that change nothing without parsing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_audit.log_directory import open_readable, parse_or_none, read_lines
from amplifier_audit.record import Record
from amplifier_audit.value_store import reveal
from amplifier_hooks.trails import Item, read_items

# No text in a line can hold this: the quotation marks in it would be escaped.
_UNHEARD = re.compile(
    rb'"event":"([^"\\]*)","hook":null,"registration":null,"type":"dispatch",'
    rb'"body":\{"action":"continue","hooks":\[\],'
)
_HEAD = 800
"""Bytes of a line in which its members before the body stand."""
_NEEDED = re.compile(
    rb'"type":"(dispatch|hook_registered|session_[a-z]+|approval_[a-z_]+|log_opened)"'
)
_TIME = re.compile(rb'"time":"([^"\\]*)"')


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when events count; what happened before still reaches the hooks."""

    since: str = ""
    until: str = ""

    def holds(self, time: str) -> bool:
        """Whether an event of this time counts."""
        return (not self.since or time >= self.since) and (not self.until or time < self.until)


@dataclass(slots=True)
class TrailReader:
    """The items of one trail; `listens` says whether anybody would hear an event of a name."""

    path: Path
    listens: Callable[[str], bool]
    window: Window
    skipped: int = 0
    """Events that nobody heard then, and nobody would."""
    read: int = 0
    """Bytes."""
    _names: dict[bytes, str] = field(default_factory=dict)

    def read_items(self) -> Iterator[Item]:
        """Everything that concerns hooks, in order, in bounded memory."""
        files = open_readable(self.path)
        values = files.directory.values if files.directory else None
        return read_items(reveal(self._read_records(files.paths), values))

    def _read_records(self, paths: tuple[Path, ...]) -> Iterator[Record]:
        for path in paths:
            for _, line in read_lines(path):
                self.read += len(line)
                if not self._is_needed(line):
                    continue
                if (record := parse_or_none(line)) is not None:
                    yield record

    def _is_needed(self, line: bytes) -> bool:
        if not _NEEDED.search(line, 0, _HEAD):
            return False
        unheard = _UNHEARD.search(line, 0, _HEAD)
        if unheard is None:
            return True
        name = self._names.setdefault(unheard[1], unheard[1].decode("ascii", "replace"))
        if self.listens(name):
            return True
        time = _TIME.search(line, 0, _HEAD)
        self.skipped += self.window.holds(time[1].decode("ascii", "replace") if time else "")
        return False

"""The page that a trail is printed on: a day above, the time at the left, lines that fit."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

from amplifier_hooks.cli.commands.audit.record_text import read_name, read_time, summarize_record
from amplifier_hooks.cli.text.fragments import ELLIPSIS, Line, wrap, wrap_words
from amplifier_hooks.cli.text.output import get_width, is_terminal, print_line

if TYPE_CHECKING:
    from amplifier_audit import Record
    from amplifier_hooks.cli.commands.audit.story import Entry

MOST_ROWS = 3
"""Rows that a line may take on a terminal; its JSON has all of it."""
_NARROWEST = 20
_TYPE_WIDTH = 20
_WIDE = 80


class Page:
    """Prints one line below the other, and a heading when another day begins."""

    def __init__(self) -> None:
        self._day: date | None = None

    def print_entry(self, entry: Entry) -> None:
        """Print one thing that happened."""
        self._begin_day(entry.time)
        clock = f"{entry.time:%H:%M:%S}" if entry.time else "--:--:--"
        _print_fitting(clock, entry.line, MOST_ROWS)

    def print_record(self, record: Record, agent: str = "") -> None:
        """Print one record as an auditor sees it, on one row."""
        time = read_time(record)
        self._begin_day(time)
        clock = f"{time:%H:%M:%S}.{time.microsecond // 1000:03}" if time else "--:--:--.---"
        _print_fitting(clock, _describe_record(record, agent), 1)

    def _begin_day(self, time: datetime | None) -> None:
        if time is not None and time.date() != self._day:
            self._day = time.date()
            print_line(("title", f"{time:%A, %Y-%m-%d}"))


def _describe_record(record: Record, agent: str) -> Line:
    kind = read_name(record["type"])
    if not is_terminal() or get_width() > _WIDE:
        kind = f"{kind:{_TYPE_WIDTH}}"
    names = [agent, *(read_name(record[key]) for key in ("event", "hook") if record[key])]
    about = "  ".join(name for name in names if name)
    return (
        ("dim", f"{record['seq']:>5}  "),
        ("note", f"{kind}  "),
        ("", f"{about}  " if about else ""),
        ("dim", summarize_record(record)),
    )


def _print_fitting(clock: str, line: Line, most: int) -> None:
    """Print a line behind its time; on a terminal in a few rows, the last one cut."""
    before = f"{clock}  "
    room = get_width() - 1 - len(before)
    if not is_terminal() or room < _NARROWEST:
        print_line(("dim", before), *line)
        return
    rows = wrap_words(line, room) if most > 1 else wrap(line, room)
    shown = rows[:most]
    if len(rows) > most:
        shown[-1] = (*wrap(shown[-1], room - 1)[0], ("dim", ELLIPSIS))
    for number, row in enumerate(shown):
        print_line(("dim", before if number == 0 else " " * len(before)), *row)

"""A replay as text: that nothing differs, or both ways from where they part."""

from __future__ import annotations

import json
from typing import Any

import click

from amplifier_hooks.cli.text.fragments import Line, count_cells, join_text, wrap_words
from amplifier_hooks.cli.text.output import get_width, print_line, print_wrapped
from amplifier_hooks.insight.replay import Difference, Replay
from amplifier_hooks.text.escape import escape

_LONGEST = 600
"""Characters of one value; the rest is in --json."""
_MOST_DOUBTS = 5
_NARROW = 70
"""Columns below which the two ways stand below one another."""


def print_replay(found: Replay) -> None:
    """Say whether everything happened again, and show where it did not."""
    if found.status == "identical":
        print_wrapped(0, ("good", "✓ "), f"identical: {_count(found)}")
    else:
        print_wrapped(0, ("bad", "✗ "), f"differs after {_count(found)}")
    for difference in found.differences:
        _print_difference(difference)
    if found.differences:
        print_line("")
        print_wrapped(0, ("dim", _say_what_follows(found)))
    _print_remarks(found)


def _say_what_follows(found: Replay) -> str:
    if len(found.differences) > 1:
        return "What follows the first difference may differ because of it."
    return "What would have come after it, nobody knows: a replay stops here."


def _count(found: Replay) -> str:
    totals = found.totals
    parts = ((totals.events, "event"), (totals.calls, "call"), (totals.questions, "question"))
    return ", ".join(f"{number} {name}{'s' * (number != 1)}" for number, name in parts)


def _print_remarks(found: Replay) -> None:
    if found.broken_off:
        print_wrapped(
            0, ("warn", "! "), "The recording breaks off: its process ended without a word."
        )
    _print_doubts(found.totals.doubtful)
    for module, why in found.not_run.items():
        text = f"{module} did not run, because {why}: what it had answered stands for it."
        print_wrapped(0, ("dim", "· "), ("dim", escape(text)))
    if not found.walled:
        text = "This machine has no sandbox: hooks of your own could have written and sent."
        print_wrapped(0, ("warn", "! "), text)


def _print_doubts(doubtful: list[str]) -> None:
    for doubt in doubtful[:_MOST_DOUBTS]:
        print_wrapped(0, ("warn", "! "), f"not compared fully: {escape(doubt)}")
    if (more := len(doubtful) - _MOST_DOUBTS) > 0:
        records = "record" if more == 1 else "records"
        print_wrapped(0, ("warn", "! "), f"and {more} more {records}; --json lists all of them")


def _print_difference(difference: Difference) -> None:
    place = "at the end" if difference.sequence is None else f"record {difference.sequence}"
    turn = f", turn {difference.turn}" if difference.turn else ""
    print_line("")
    print_wrapped(0, ("title", f"{escape(difference.what)} ({place}{turn})"))
    if difference.about is not None:
        print_wrapped(2, _write(difference.about))
    print_wrapped(2, ("dim", _explain(difference)))
    for doubt in difference.doubts:
        print_wrapped(2, ("warn", "! "), f"cannot be told for certain: {escape(doubt)}")
    print_line("")
    rows = [(one.field, _write(one.then), _write(one.now)) for one in difference.changes]
    _print_ways([("", "then", "now"), *rows])


def _explain(difference: Difference) -> str:
    if difference.kind == "only now":
        return f"This did not happen then. What came then was: {escape(difference.expected)}."
    if difference.kind == "only then":
        return "This happened then and does not happen now."
    return "This happens in another way than it did."


def _write(value: Any) -> str:
    if value is None:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = escape(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _print_ways(rows: list[tuple[str, str, str]]) -> None:
    """Two columns side by side, each as wide as the other."""
    width = get_width() - 1
    if width < _NARROW:
        for name, then, now in rows[1:]:
            print_wrapped(2, ("title", escape(name)))
            print_wrapped(4, ("dim", "then "), then)
            print_wrapped(4, ("dim", "now  "), now)
        return
    first = max(count_cells(escape(name)) for name, _, _ in rows) + 2
    first = min(first, width // 3)
    room = (width - 2 - first) // 2 - 2
    for index, (name, then, now) in enumerate(rows):
        style = "dim" if index == 0 else ""
        columns = (
            _wrap("title", escape(name), first - 2),
            _wrap(style, then, room),
            _wrap(style, now, room),
        )
        for row in range(max(map(len, columns))):
            _print_row(columns, row, (first, room + 2))


def _wrap(style: str, text: str, room: int) -> list[Line]:
    return [tuple(line) for line in wrap_words(((style, text),), room)] or [()]


def _print_row(columns: tuple[list[Line], ...], row: int, widths: tuple[int, int]) -> None:
    cells = [column[row] if row < len(column) else () for column in columns]
    parts: list[tuple[str, str]] = []
    for cell, width in zip(cells[:2], widths, strict=True):
        parts += [*cell, ("", " " * (width - count_cells(join_text(cell))))]
    print_line("  ", *parts, *cells[2])


def print_json(found: Replay) -> None:
    """The same for programs; two runs print the same."""
    totals = found.totals
    facts = {
        "version": 1,
        "session": found.session,
        "status": found.status,
        "events": totals.events,
        "calls": totals.calls,
        "questions": totals.questions,
        "injections": totals.injections,
        "broken_off": found.broken_off,
        "not_compared_fully": totals.doubtful,
        "not_run": found.not_run,
        "sandboxed": found.walled,
        "differences": [_to_dict(one) for one in found.differences],
    }
    click.echo(json.dumps(facts, indent=2, ensure_ascii=False))


def _to_dict(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "what": difference.what,
        "session": difference.session,
        "record": difference.sequence,
        "time": difference.time,
        "turn": difference.turn,
        "about": difference.about,
        "expected": difference.expected,
        "doubts": list(difference.doubts),
        "changes": [
            {"field": one.field, "then": one.then, "now": one.now} for one in difference.changes
        ],
    }

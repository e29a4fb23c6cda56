"""The page that a trail is printed on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from amplifier_hooks.cli.commands.audit import story as page
from amplifier_hooks.cli.commands.audit.story import Entry, Page

LONG = (("bad", "✗ denied by guard: "), ("", "word " * 60))


def make_narrow(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr(page, "is_terminal", lambda: True)
    monkeypatch.setattr(page, "get_width", lambda: columns)


def make_record(**more: Any) -> dict[str, Any]:
    return {
        "seq": 7,
        "time": "2026-11-17T03:25:13.018Z",
        "event": "tool:pre",
        "hook": "mine",
        "type": "user_message",
        "body": {"text": "x" * 300},
        **more,
    }


def test_a_day_stands_above_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Once; a line without a time belongs to the day above."""
    shown = Page()
    for day in (17, 17, 18):
        shown.print_entry(Entry(datetime(2026, 11, day, 9, 30).astimezone(), (("", "x"),)))
    shown.print_entry(Entry(None, (("", "y"),)))
    assert capsys.readouterr().out.splitlines() == [
        "Tuesday, 2026-11-17",
        *["09:30:00  x"] * 2,
        "Wednesday, 2026-11-18",
        "09:30:00  x",
        "--:--:--  y",
    ]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_line_takes_a_few_rows_of_a_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They stand below one another, and the last one says that there is more."""
    make_narrow(monkeypatch, columns)
    Page().print_entry(Entry(None, LONG))
    rows = capsys.readouterr().out.splitlines()
    assert max(map(len, rows)) < columns
    assert len(rows) == min(page.MOST_ROWS, len(rows))
    assert all(row.startswith(" " * 10) for row in rows[1:])
    assert rows[-1].endswith("…") or columns == 200


def test_a_line_is_whole_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever reads it there can cut it."""
    Page().print_entry(Entry(None, LONG))
    assert capsys.readouterr().out.count("word") == 60


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_record_takes_one_row(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its number, its type and where it comes from."""
    make_narrow(monkeypatch, columns)
    Page().print_record(make_record(), "explorer")
    _, row = capsys.readouterr().out.splitlines()
    assert len(row) < columns
    assert row.split()[1:3] == ["7", "user_message"][: len(row.split()) - 1] or columns == 40
    Page().print_record(make_record(time="never"))
    assert capsys.readouterr().out.startswith("--:--:--.---      7  user_message")

"""A change to a file, as lines that a person reads."""

from __future__ import annotations

from amplifier_hooks.approvals.change import Change, list_rows, split_lines
from amplifier_hooks.cli.text.fragments import Line, escape_line

_STYLES = {"+": "add", "-": "del"}


def show_diff(change: Change) -> list[Line] | None:
    """A unified diff; None when there is nothing to compare with, or it would take too long."""
    rows = list_rows(change)
    return None if rows is None else [line for row in rows for line in _show_row(row)]


def show_new_text(text: str) -> list[Line]:
    """All of a text that there is nothing to compare with, as added."""
    return [line for row in split_lines(text) for line in _show_row(f"+{row}")]


def _show_row(row: str) -> list[Line]:
    mark, text = row[:1], row[1:]
    if mark == "@":
        return [(("hunk", row),)]
    style = _STYLES.get(mark, "")
    line: Line = ((style, f"{mark} "), *escape_line(text.removesuffix("\n"), style))
    return [line] if text.endswith("\n") else [line, (("dim", "  (no newline at the end)"),)]

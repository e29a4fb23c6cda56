"""A preview of a tool call, as lines a person can judge: a diff, a command, or the input.

Nothing is left out: a diff leaves out only lines that stay as they are, and the exact input is
one key away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_hooks.approvals.change import SAME, Change, foresee_change, list_rows, split_lines
from amplifier_hooks.cli.text.fragments import Fragment, Line, escape_line, escape_lines
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS

_STYLES = {"+": "add", "-": "del"}


def show_diff(change: Change) -> list[Line] | None:
    """A unified diff; None when there is nothing to compare with, or it would take too long."""
    rows = list_rows(change)
    return None if rows is None else [line for row in rows for line in _show_row(row)]


def show_new_text(text: str) -> list[Line]:
    """All of a text that there is nothing to compare with, as added."""
    return [line for row in split_lines(text) for line in _show_row(f"+{row}")]


def _show_row(row: str) -> list[Line]:
    mark = row[:1]
    text = row[1:]
    if mark == "@":
        return [(("hunk", row),)]
    style = _STYLES.get(mark, "")
    line: Line = ((style, f"{mark} "), *escape_line(text.removesuffix("\n"), style))
    return [line] if text.endswith("\n") else [line, (("dim", "  (no newline at the end)"),)]


_SHELL = re.compile(
    r"""(?P<string>'[^']*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<operator>\$\(|`|&&|\|\||>>|<<|[|;&<>(){}])|(?P<word>[^\s'"|;&<>(){}`$]+|\$)"""
)


FLAT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Preview:
    """The headline (tool and target), remarks worth reading, and the body."""

    headline: Line
    notes: tuple[str, ...]
    body: tuple[Line, ...]


def make_preview(tool: str, tool_input: Mapping[str, Any], base: Path) -> Preview:
    """The view of a call that suits its tool; paths are relative to `base`."""
    if tool in EDITING_TOOLS:
        change = foresee_change(tool, tool_input, base)
        if change is not None:
            return _preview_change(tool, change)
    command = tool_input.get("command")
    if tool == "Bash" and isinstance(command, str):
        body = [*highlight(command), *_show_other_fields(tool_input)]
    else:
        body = _show_fields(tool_input)
    return Preview(_make_headline(tool), (), tuple(body))


def show_exact_input(tool_input: Mapping[str, Any]) -> tuple[Line, ...]:
    """The input as JSON: every key, every character."""
    return tuple(escape_lines(_format_json(tool_input)))


def highlight(command: str) -> list[Line]:
    """A shell command with its programs, operators and strings marked. For the eye only."""
    return [_highlight_line(line) for line in escape_lines(command)]


def _highlight_line(line: Line) -> Line:
    fragments: list[Fragment] = []
    at_program = True
    for style, text in line:
        if style:
            fragments.append((style, text))
            continue
        position = 0
        for match in _SHELL.finditer(text):
            fragments.append(("", text[position : match.start()]))
            fragments.append((_choose_style(match, at_program), match.group()))
            at_program = match.lastgroup == "operator"
            position = match.end()
        fragments.append(("", text[position:]))
    return tuple(fragment for fragment in fragments if fragment[1])


def _choose_style(match: re.Match[str], at_program: bool) -> str:
    if match.lastgroup == "word":
        return "program" if at_program else ""
    return str(match.lastgroup)


def _make_headline(tool: str, target: str = "") -> Line:
    return (*escape_line(tool, "tool"), ("", "  "), *escape_line(target, "target"))


def _show_other_fields(tool_input: Mapping[str, Any]) -> list[Line]:
    rest = {key: value for key, value in tool_input.items() if key != "command"}
    return [(("", ""),), *_show_fields(rest)] if rest else []


def _show_fields(tool_input: Mapping[str, Any]) -> list[Line]:
    """One field after another; a text on lines of its own, anything else as JSON."""
    lines: list[Line] = []
    for key, value in tool_input.items():
        text = value if isinstance(value, str) else _format_field(value)
        label = escape_line(f"{key}: ", "key")
        if "\n" in text:
            lines += [label, *escape_lines(text)]
        else:
            lines.append((*label, *escape_line(text)))
    return lines or [(("dim", "(no input)"),)]


def _format_field(value: Any) -> str:
    """JSON on one line where that is short, else with a line for each part."""
    flat = _format_json(value, indent=None)
    return flat if len(flat) <= FLAT_LENGTH else _format_json(value)


def _format_json(value: Any, indent: int | None = 2) -> str:
    """JSON that never raises, for reading."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=repr)
    except (ValueError, TypeError, RecursionError):
        return "(an input that cannot be written down; refuse it)"


def _preview_change(tool: str, change: Change) -> Preview:
    body = show_diff(change)
    notes = change.notes
    if body is None:
        body = show_new_text(change.after)
    elif not body:
        notes = (*notes, SAME)
    return Preview(_make_headline(tool, change.path), notes, tuple(body))

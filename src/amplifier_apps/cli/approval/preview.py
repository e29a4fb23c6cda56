"""What a tool call would do, as lines a person can judge: a diff, a command, or the input.

Nothing is left out: a diff leaves out only lines that stay as they are, and the exact input is
one key away.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_apps.cli.text.fragments import Line, one_line, styled
from amplifier_foundation.policy.editing_tools import EDITING_TOOLS

# Beyond these a diff could take seconds; the new text is then shown whole instead.
DIFF_BYTES = 1_000_000
DIFF_LINES = 4_000

_SHELL = re.compile(
    r"""(?P<string>'[^']*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<operator>\$\(|`|&&|\|\||>>|<<|[|;&<>(){}])|(?P<word>[^\s'"|;&<>(){}`$]+|\$)"""
)


@dataclass(frozen=True, slots=True)
class Preview:
    """The headline (tool and target), remarks worth reading, and the body."""

    headline: Line
    notes: tuple[str, ...]
    body: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; `before` is None when there is nothing to compare with."""

    path: str
    before: str | None
    after: str
    notes: tuple[str, ...] = ()


def preview(tool: str, tool_input: Mapping[str, Any], base: Path) -> Preview:
    """The view of a call that suits its tool."""
    if tool in EDITING_TOOLS:
        change = _change(tool, tool_input, base)
        if change is not None:
            return _of_change(tool, change)
    command = tool_input.get("command")
    if tool == "Bash" and isinstance(command, str):
        return Preview(_headline(tool), (), (*highlighted(command), *_others(tool_input)))
    return Preview(_headline(tool), (), tuple(_fields(tool_input)))


def exact(tool_input: Mapping[str, Any]) -> tuple[Line, ...]:
    """The input as JSON: every key, every character."""
    return tuple(styled(as_json(tool_input)))


def as_json(value: Any) -> str:
    """JSON that never raises, for reading."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=repr)
    except (ValueError, TypeError, RecursionError):
        return "(an input that cannot be written down; refuse it)"


def highlighted(command: str) -> list[Line]:
    """A shell command with its programs, operators and strings told apart. For the eye only."""
    return [_colour(line) for line in styled(command)]


def _colour(line: Line) -> Line:
    fragments: list[tuple[str, str]] = []
    at_program = True
    for style, text in line:
        if style:
            fragments.append((style, text))
            continue
        position = 0
        for match in _SHELL.finditer(text):
            fragments.append(("", text[position : match.start()]))
            fragments.append((_shell_style(match, at_program), match.group()))
            at_program = match.lastgroup == "operator"
            position = match.end()
        fragments.append(("", text[position:]))
    return tuple(fragment for fragment in fragments if fragment[1])


def _shell_style(match: re.Match[str], at_program: bool) -> str:
    if match.lastgroup == "word":
        return "class:program" if at_program else ""
    return f"class:{match.lastgroup}"


def _headline(tool: str, target: str = "") -> Line:
    return (*one_line(tool, "class:tool"), ("", "  "), *one_line(target, "class:target"))


def _others(tool_input: Mapping[str, Any]) -> list[Line]:
    rest = {key: value for key, value in tool_input.items() if key != "command"}
    return [((("", ""),)), *_fields(rest)] if rest else []


def _fields(tool_input: Mapping[str, Any]) -> list[Line]:
    """One field after another; a text on lines of its own, anything else as JSON."""
    lines: list[Line] = []
    for key, value in tool_input.items():
        text = value if isinstance(value, str) else as_json(value)
        label = one_line(f"{key}: ", "class:key")
        if "\n" in text:
            lines += [label, *styled(text)]
        else:
            lines.append((*label, *one_line(text)))
    return lines or [(("class:dim", "(no input)"),)]


def _of_change(tool: str, change: Change) -> Preview:
    body = _diff(change) if change.before is not None else None
    notes = change.notes
    if body is None:
        body = [(("class:add", "+ "), *line) for line in styled(change.after, "class:add")]
    elif not body:
        notes = (*notes, "The file would stay exactly as it is.")
    return Preview(_headline(tool, change.path), notes, tuple(body))


def _change(tool: str, tool_input: Mapping[str, Any], base: Path) -> Change | None:
    """What the call would make of the file, or None when its input has another shape."""
    path = tool_input.get("file_path")
    if not isinstance(path, str):
        return None
    before, notes = _read(path, base)
    if tool == "Write":
        content = tool_input.get("content")
        return Change(path, before, content, notes) if isinstance(content, str) else None
    edits = tool_input.get("edits") if tool == "MultiEdit" else [tool_input]
    if before is None or not isinstance(edits, list):
        return None
    return _edited(path, before, edits, notes)


def _edited(path: str, before: str, edits: Iterable[Any], notes: tuple[str, ...]) -> Change | None:
    after = before
    for edit in edits:
        if not isinstance(edit, Mapping):
            return None
        old, new = edit.get("old_string"), edit.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str) or old not in after or not old:
            return None
        after = after.replace(old, new, -1 if edit.get("replace_all") else 1)
    return Change(path, before, after, notes)


def _read(path: str, base: Path) -> tuple[str | None, tuple[str, ...]]:
    """The file as it is now, and what a person should know about it."""
    try:
        real = (base / path).resolve()
        notes = _link_note(base / path, real)
        text = _text_of(real)
    except (OSError, ValueError, RuntimeError) as error:
        return None, (f"The present file cannot be read: {error}",)
    if text is None:
        return None, (*notes, "There is no readable text file yet; this would be its content.")
    return text, notes


def _link_note(asked: Path, real: Path) -> tuple[str, ...]:
    plain = Path(os.path.normpath(asked.absolute()))
    return () if plain == real else (f"This path leads to {real}",)


def _text_of(path: Path) -> str | None:
    """A regular file's text; never waits on a pipe or a device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > DIFF_BYTES:
            return None
        try:
            return file.read().decode("utf-8")
        except UnicodeDecodeError:
            return None


def _diff(change: Change) -> list[Line] | None:
    """A unified diff; None when it would take too long."""
    before, after = _diff_lines(change.before or ""), _diff_lines(change.after)
    if max(len(before), len(after)) > DIFF_LINES:
        return None
    rows = list(difflib.unified_diff(before, after, n=3, lineterm=""))[2:]
    return [line for row in rows for line in _diff_row(row)]


def _diff_lines(text: str) -> list[str]:
    """Lines with their newline, so that a missing last one is a difference."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def _diff_row(row: str) -> list[Line]:
    mark, text = row[:1], row[1:]
    style = {"+": "class:add", "-": "class:del", "@": "class:hunk"}.get(mark, "")
    if mark == "@":
        return [((style, row),)]
    line: Line = ((style, f"{mark} "), *one_line(text.removesuffix("\n"), style))
    return [line] if text.endswith("\n") else [line, (("class:dim", "  (no newline at the end)"),)]

"""The change that a tool call would make, as text, and whether a person may edit its input."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.approval import ApprovalQuestion, read_option
from amplifier_core.events import TOOL_PRE
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS

# Beyond these a diff could take seconds; the new text is then shown whole instead.
DIFF_BYTES = 1_000_000
DIFF_LINES = 4_000

NEW = "The file does not exist yet."
UNREADABLE = "The present file is not text, or too long to compare; it would be replaced by:"
SAME = "The file would stay exactly as it is."

# Characters of a preview that travels to people elsewhere; the input is there in full.
LONGEST_PREVIEW = 200_000
CUT = "The preview is cut; the input below is complete."


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; `before` is None when there is nothing to compare with."""

    path: str
    before: str | None
    after: str
    notes: tuple[str, ...] = ()


def foresee_change(tool: str, tool_input: Mapping[str, Any], base: Path) -> Change | None:
    """What a call would make of the file, or None when its input has another shape."""
    path = tool_input.get("file_path")
    if not isinstance(path, str):
        return None
    before, notes = _read_file(path, base)
    if tool == "Write":
        content = tool_input.get("content")
        return Change(path, before, content, notes) if isinstance(content, str) else None
    edits = tool_input.get("edits") if tool == "MultiEdit" else [tool_input]
    if before is None or not isinstance(edits, list):
        return None
    after = _apply_edits(before, edits)
    return None if after is None else Change(path, before, after, notes)


def _apply_edits(text: str, edits: Iterable[Any]) -> str | None:
    """The text after all edits, or None when one of them would not apply."""
    for edit in edits:
        if not isinstance(edit, Mapping):
            return None
        old = edit.get("old_string")
        new = edit.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str) or old not in text or not old:
            return None
        text = text.replace(old, new, -1 if edit.get("replace_all") else 1)
    return text


def _read_file(path: str, base: Path) -> tuple[str | None, tuple[str, ...]]:
    """The file as it is now, and what a person should know about it."""
    try:
        real = (base / path).resolve()
        notes = _note_link(base / path, real)
        text = _read_text(real)
    except (OSError, ValueError, RuntimeError) as error:
        return None, (f"The present file cannot be read: {error}",)
    if text is not None:
        return text, notes
    return None, (*notes, UNREADABLE if real.exists() else NEW)


def _note_link(asked: Path, real: Path) -> tuple[str, ...]:
    plain = Path(os.path.normpath(asked.absolute()))
    return () if plain == real else (f"This path leads to {real}",)


def _read_text(path: Path) -> str | None:
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


def list_rows(change: Change) -> list[str] | None:
    """The rows of a unified diff; None when nothing is there to compare, or it takes too long."""
    if change.before is None:
        return None
    before = split_lines(change.before)
    after = split_lines(change.after)
    if max(len(before), len(after)) > DIFF_LINES:
        return None
    return list(difflib.unified_diff(before, after, n=3, lineterm=""))[2:]


def split_lines(text: str) -> list[str]:
    """Lines with their newline, so that a missing last one is a difference."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def write_preview(
    tool: str, tool_input: Mapping[str, Any], base: Path
) -> tuple[str, tuple[str, ...]]:
    """A call's change as a unified diff, and what a person should know of it; else nothing.

    For people who cannot see the file: a difference is made where it is.
    """
    change = foresee_change(tool, tool_input, base) if tool in EDITING_TOOLS else None
    if change is None:
        return "", ()
    rows = list_rows(change)
    if rows is None:
        rows = [f"+{line}" for line in split_lines(change.after)]
    notes = change.notes if rows else (*change.notes, SAME)
    heading = [f"--- {change.path}\n", f"+++ {change.path}\n"]
    text = "".join(_end_row(row) for row in [*heading, *rows])
    if len(text) > LONGEST_PREVIEW:
        return text[:LONGEST_PREVIEW], (*notes, CUT)
    return text, notes


def _end_row(row: str) -> str:
    """A row of a diff with its newline; of a last line that has none, as `diff` says it."""
    if row.endswith("\n"):
        return row
    return f"{row}\n" if row.startswith("@@") else f"{row}\n\\ No newline at end of file\n"


def is_editable(question: ApprovalQuestion) -> bool:
    """Whether a question is about a call that has not run, and can be allowed for this once."""
    return question.event == TOOL_PRE and bool(question.tool_name) and bool(list_once(question))


def list_once(question: ApprovalQuestion) -> tuple[str, ...]:
    """The options that fit an edited input: what is remembered would be what was asked first."""
    once = tuple(one for one in question.options if not read_option(one).remembered)
    return once if any(read_option(one).allows for one in once) else ()


def word_edit(edited: Mapping[str, Any], tool: str | None) -> str:
    """What the agent is told of an edit; it would be puzzled by another result otherwise."""
    command = edited.get("command") if tool == "Bash" else None
    is_line = isinstance(command, str) and command.isprintable()
    return f"I changed the command to: {command}" if is_line else "I edited the input before it ran"

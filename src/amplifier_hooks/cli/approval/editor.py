"""The person's own editor, at the terminal, on a file that nobody else can read."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import tempfile
import termios
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, Literal

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.utils import run_with_timeout
from amplifier_hooks.approvals.change import is_editable
from amplifier_hooks.cli.terminal import Terminal

LONGEST_LINE = 400
"""Characters that can be edited in place; what is longer opens an editor."""

_MAIN_TEXT = {"Bash": "command", "Write": "content"}


class BadEdit(ValueError):
    """An edited text that is no input."""


@dataclass(frozen=True, slots=True)
class EditableInput:
    """One text of the input under its key, or all of the input as JSON."""

    given: Mapping[str, Any]
    key: str | None
    text: str
    suffix: str

    @classmethod
    def of(cls, question: ApprovalQuestion) -> EditableInput | None:
        """What can be edited of a question; None when nothing can."""
        if not is_editable(question):
            return None
        given = question.tool_input
        key = _MAIN_TEXT.get(question.tool_name or "")
        if key is not None and isinstance(given.get(key), str):
            name = given.get("file_path")
            suffix = PurePath(name).suffix if isinstance(name, str) else ".sh"
            return cls(given, key, given[key], suffix or ".txt")
        try:
            text = json.dumps(given, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        except (ValueError, TypeError, RecursionError):
            return None
        return cls(given, None, text, ".json")

    @property
    def is_line(self) -> bool:
        """Whether it can be edited in place: a command of one line that shows as it is."""
        short = len(self.text) <= LONGEST_LINE and self.text.isprintable()
        return self.suffix == ".sh" and short

    def apply(self, text: str) -> dict[str, Any]:
        """The whole input with the edited text in it; BadEdit if it is none."""
        if self.key is not None:
            # Editors end a file with a newline, which nobody has typed.
            added = text.endswith("\n") and not self.text.endswith("\n")
            return {**self.given, self.key: text[:-1] if added else text}
        try:
            value = json.loads(text)
        except ValueError as error:
            raise BadEdit(f"That is not valid JSON ({error}). Press e to correct it.") from error
        if not isinstance(value, dict):
            kind = type(value).__name__
            raise BadEdit(f"The input must be a JSON object, not a {kind}. Press e to correct it.")
        return value


Move = Literal["left", "right", "home", "end"]
Removal = Literal["before", "after", "all before"]


@dataclass(frozen=True, slots=True)
class TextField:
    """A text, and how many of its characters stand before the cursor."""

    text: str
    cursor: int

    @classmethod
    def holding(cls, text: str) -> TextField:
        """A field with the cursor behind its text."""
        return cls(text, len(text))

    @property
    def parts(self) -> tuple[str, str, str]:
        """What stands before the cursor, under it, and behind it."""
        at = self.cursor
        return self.text[:at], self.text[at : at + 1], self.text[at + 1 :]

    def insert(self, typed: str) -> TextField:
        """Put in what was typed; a line stays one line, and holds what can be seen."""
        clean = "".join(ch if ch.isprintable() else " " * (ch in "\r\n\t") for ch in typed)
        text = self.text[: self.cursor] + clean + self.text[self.cursor :]
        return TextField(text, self.cursor + len(clean))

    def move(self, where: Move) -> TextField:
        """Move the cursor; it stays within the text."""
        ends = {"home": 0, "end": len(self.text)}
        steps = {"left": self.cursor - 1, "right": self.cursor + 1}
        wanted = {**ends, **steps}[where]
        return replace(self, cursor=min(len(self.text), max(0, wanted)))

    def remove(self, which: Removal) -> TextField:
        """Take out a character beside the cursor, or all before it."""
        start = {"before": max(0, self.cursor - 1), "after": self.cursor, "all before": 0}[which]
        end = self.cursor + (which == "after")
        return TextField(self.text[:start] + self.text[end:], start)


USUAL = ("nano", "vi")
GRACE_SECONDS = 2.0


class NoEditor(Exception):
    """There is no editor, or it failed; the message says which and what would do."""


def find_editor(env: Mapping[str, str] = os.environ) -> list[str]:
    """The command of VISUAL or EDITOR, or an editor that most machines have."""
    for name in ("VISUAL", "EDITOR"):
        words = _split(env.get(name, ""), name)
        if words and shutil.which(words[0], path=env.get("PATH")) is None:
            raise NoEditor(f"{name} names {words[0]!r}, which is not installed.")
        if words:
            return words
    found = next((one for one in USUAL if shutil.which(one, path=env.get("PATH"))), None)
    if found is None:
        raise NoEditor("There is no editor; set EDITOR to the command of one.")
    return [found]


async def edit_text(text: str, suffix: str, terminal: Terminal) -> str:
    """What the person made of a text; the same text if they changed nothing."""
    command = find_editor()
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="amplifier-edit-"))
    try:
        path = folder / f"input{suffix}"
        path.write_bytes(text.encode(errors="surrogateescape"))
        await _run([*command, str(path)], terminal)
        return path.read_bytes().decode()
    except (OSError, UnicodeError) as error:
        raise NoEditor(f"{Path(command[0]).name} left nothing that can be used: {error}") from error
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _run(command: list[str], terminal: Terminal) -> None:
    reading = terminal.reading.fileno()
    screen = terminal.writing.fileno()
    before = termios.tcgetattr(reading)
    # Blocking, unlike our own handle: editors expect it so.
    with open(os.ttyname(reading)) as keys:  # noqa: ASYNC230, PTH123
        process = await asyncio.create_subprocess_exec(
            *command, stdin=keys, stdout=screen, stderr=screen
        )
    try:
        code = await process.wait()
    finally:
        await _end(process)
        termios.tcsetattr(reading, termios.TCSANOW, before)
    if code:
        name = Path(command[0]).name
        raise NoEditor(f"{name} ended with exit code {code}; nothing was changed.")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End an editor whose time is up: first so that it can tidy the screen, then for certain."""
    for end in (process.terminate, process.kill):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            end()
        with suppress(TimeoutError):
            await run_with_timeout(process.wait(), GRACE_SECONDS)


def _split(value: str, name: str) -> list[str]:
    try:
        return shlex.split(value)
    except ValueError as error:
        raise NoEditor(f"{name} cannot be read as a command: {error}.") from error

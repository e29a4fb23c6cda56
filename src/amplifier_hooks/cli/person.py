"""Commands that decide in a person's place: an agent may not run them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import click

from amplifier_core.errors import AmplifierError

OWN_MARK = "AMPLIFIER_COMMAND_ID"
"""In the environment of every process that a tool of ours starts."""

MARKS = (
    OWN_MARK,
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "OPENCODE",
    "QWEN_CODE",
    "GOOSE_TERMINAL",
    "CLINE_ACTIVE",
    "CRUSH",
)
"""In the environment of what an agent's tool runs. Variables that people set themselves, such as
CODEX_HOME, and those of the terminals of an editor, are not among them."""

PROGRAMS = frozenset(
    {
        "claude",
        "codex",
        "gemini",
        "copilot",
        "cursor-agent",
        "opencode",
        "qwen",
        "goose",
        "crush",
        "droid",
        "auggie",
        "aider",
    }
)
"""Agents, as the processes are called. An editor such as Cursor is not one: people have terminals
in it."""

_PACKAGES = frozenset({"claude-code", "gemini-cli", "qwen-code"})
_RUNTIMES = ("node", "bun", "deno", "python", "pypy")
_PROC = Path("/proc")
_MOST_PARENTS = 128


class NotAPerson(AmplifierError):
    """An agent's own command tries to decide."""


def refuse_agents() -> None:
    """Raise NotAPerson in a command that an agent has started: people decide.

    A script can remove variables from its environment, so the processes above it are looked at as
    well. A program that leaves them (`setsid` and a second fork) is not recognised; docs/threats.md
    says what that means.
    """
    why = find_agent()
    if why is not None:
        raise NotAPerson(
            f"This command was started by an agent ({why}), and an agent cannot decide about "
            "itself. Use a terminal of your own"
        )


def require_terminal(what: str, instead: str) -> None:
    """Raise NotAPerson if this process has no terminal, where a person could be sitting."""
    if not has_terminal():
        raise NotAPerson(f"{what} needs the terminal of a person; there is none here. {instead}")


def confirm(question: str, instead: str, *, err: bool = False) -> bool:
    """Ask whoever sits at the terminal; without one, a UsageError names what decides `instead`.

    Nobody answers at a pipe: a silent one would be waited for, and a yes in it is not a person's.
    """
    if not is_at_terminal(sys.stderr if err else sys.stdout):
        raise click.UsageError(f"This asks a person at a terminal; in a script, use {instead}")
    return click.confirm(question, default=False, err=err)


def is_at_terminal(shown: TextIO | None = None) -> bool:
    """Whether somebody can type at standard input, and read what is shown."""
    return sys.stdin.isatty() and (shown is None or shown.isatty())


def has_terminal() -> bool:
    """Whether this process has a controlling terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def find_agent() -> str | None:
    """What says that an agent has started this process: a variable, or a process above it."""
    mark = next((one for one in MARKS if os.environ.get(one)), None)
    if mark is not None:
        return f"{mark} is set"
    for process in list_parents():
        mark = _find_mark(process)
        if mark is not None:
            return f"{mark} is set in process {process.name} above it"
        name = _find_program(process)
        if name is not None:
            return f"process {process.name} above it is {name}"
    return None


def list_parents() -> Iterator[Path]:
    """The processes above this one, as folders of /proc; none where there is no /proc."""
    number = os.getppid()
    for _ in range(_MOST_PARENTS):
        if number <= 0:
            return
        process = _PROC / str(number)
        yield process
        try:
            # Behind the name, which may hold anything: state, then parent.
            number = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return


def _find_mark(process: Path) -> str | None:
    """A mark in the environment that a process was started with, if we may read it."""
    for entry in _read_words(process / "environ"):
        name, _, value = entry.partition("=")
        if value and name in MARKS:
            return name
    return None


def _find_program(process: Path) -> str | None:
    words = _read_words(process / "cmdline")
    if not words:
        return None
    name = Path(words[0]).name.removeprefix("-")
    if name in PROGRAMS:
        return name
    if not name.startswith(_RUNTIMES):
        return None
    script = next((Path(one) for one in words[1:] if not one.startswith("-")), Path())
    if script.stem in PROGRAMS:
        return script.stem
    return next((part for part in script.parts if part in _PACKAGES), None)


def _read_words(file: Path) -> list[str]:
    try:
        return file.read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []

"""The person's own editor, at the terminal, on a file that nobody else can read."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tempfile
import termios
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from amplifier_core.utils import run_with_timeout
from amplifier_hooks.cli.terminal import Terminal

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
    reading, screen = terminal.reading.fileno(), terminal.writing.fileno()
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

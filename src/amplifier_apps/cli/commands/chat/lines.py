"""The lines of a conversation: typed at a terminal, with a history, or read from a pipe."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings

Hold = Callable[[], AbstractContextManager[None]]
Scrub = Callable[[str], str]


async def read_prompts(hold: Hold, scrub: Scrub = str) -> AsyncIterator[str]:
    """What the person types, until they leave; without a terminal, the lines of standard input.

    While they type, `hold` keeps messages back. The history on disk is kept as `scrub` leaves it.
    """
    if not sys.stdin.isatty():
        async for line in _read_lines():
            yield line
        return
    async for line in _read_typed(hold, scrub):
        yield line


async def _read_lines() -> AsyncIterator[str]:
    """Lines from a thread that may be left behind: one that reads cannot be interrupted."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        with suppress(RuntimeError):  # the conversation is over and its loop closed
            for line in chain(sys.stdin, [""]):
                loop.call_soon_threadsafe(lines.put_nowait, line)

    threading.Thread(target=read, daemon=True).start()
    while line := await lines.get():
        if line.strip():
            yield line.strip()


async def _read_typed(hold: Hold, scrub: Scrub) -> AsyncIterator[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import FormattedText

    from amplifier_apps.cli.terminal import make_output
    from amplifier_apps.cli.text.styles import to_prompt_toolkit

    session: PromptSession[str] = PromptSession(
        FormattedText([(to_prompt_toolkit("tool"), "› ")]),
        history=_open_history(scrub),
        key_bindings=_make_bindings(),
        multiline=True,
        prompt_continuation="  ",
        enable_open_in_editor=True,
        output=make_output(sys.stdout),
    )
    while True:
        try:
            with hold():
                line = await session.prompt_async()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if line.strip():
            yield line.strip()
            click.echo()


def _make_bindings() -> KeyBindings:
    """Enter sends (what was typed ahead arrives as Ctrl-J); Alt-Enter begins a new line."""
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()
    keys.add("enter")(lambda event: event.current_buffer.validate_and_handle())
    keys.add("escape", "enter")(lambda event: event.current_buffer.insert_text("\n"))
    keys.add("c-j")(lambda event: event.current_buffer.validate_and_handle())
    return keys


def _open_history(scrub: Scrub) -> FileHistory:
    from prompt_toolkit.history import FileHistory

    class ScrubbedHistory(FileHistory):
        """Recalls what was typed in this conversation as it was; the file has it scrubbed."""

        def store_string(self, string: str) -> None:
            super().store_string(scrub(string))

    return ScrubbedHistory(str(_find_history()))


def _find_history() -> Path:
    from amplifier_foundation.machine.user_folders import find_data_home

    path = find_data_home() / "amplifier" / "history"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    return path

"""The lines of a conversation: typed at a terminal, with a history, or read from a pipe."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings

Hold = Callable[[], AbstractContextManager[None]]
Scrub = Callable[[str], str]
TakeTyped = Callable[[], str]
PROMPT = "› "


async def read_prompts(
    hold: Hold, scrub: Scrub = str, take_typed: TakeTyped = str, words: Sequence[str] = ()
) -> AsyncGenerator[str, None]:
    """What the person types, until they leave; without a terminal, the lines of standard input.

    While they type, `hold` keeps messages back. The history on disk is kept as `scrub` leaves it.
    `take_typed` has what was typed before there was a prompt; Tab completes `words`.
    """
    if not sys.stdin.isatty():
        async for line in _read_lines():
            yield line
        return
    async for line in _read_typed(hold, scrub, take_typed, words):
        yield line


async def _read_lines() -> AsyncGenerator[str, None]:
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


async def _read_typed(
    hold: Hold, scrub: Scrub, take_typed: TakeTyped, words: Sequence[str]
) -> AsyncGenerator[str, None]:
    session = _open_prompt(scrub, words)
    while True:
        typed = take_typed()
        line, ended, more = typed.partition("\n")
        if ended and not more.strip():  # one whole line: sent as if the prompt had been there
            click.echo(f"{PROMPT}{line}")
        else:
            try:
                with hold():
                    line = await session.prompt_async(default=typed)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
        if line.strip():
            yield line.strip()
            click.echo()


def _open_prompt(scrub: Scrub, words: Sequence[str]) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.formatted_text import FormattedText

    from amplifier_hooks.cli.terminal import make_output
    from amplifier_hooks.cli.text.styles import to_prompt_toolkit

    return PromptSession(
        FormattedText([(to_prompt_toolkit("tool"), PROMPT)]),
        history=_open_history(scrub),
        key_bindings=_make_bindings(),
        multiline=True,
        prompt_continuation="  ",
        enable_open_in_editor=True,
        output=make_output(sys.stdout),
        completer=WordCompleter(list(words), sentence=True),
        complete_while_typing=False,
    )


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
    from amplifier_hooks.machine.user import find_data_home

    path = find_data_home() / "amplifier" / "history"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    return path

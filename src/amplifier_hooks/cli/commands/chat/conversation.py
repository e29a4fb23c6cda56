"""A conversation: lines of a person, turns of an agent, and commands in between."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_core.utils.text import describe_error
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import Agent, AgentOptions, open_agent
from amplifier_hooks.cli.commands.chat.slash_commands import (
    COMMANDS,
    EditLog,
    greet,
    run_command,
    say_goodbye,
)
from amplifier_hooks.cli.commands.resume import show_last_exchange

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings


Hold = Callable[[], AbstractContextManager[None]]
Scrub = Callable[[str], str]
TakeTyped = Callable[[], str]
PROMPT = "› "


async def read_prompts(
    hold: Hold, scrub: Scrub = str, pop_typed: TakeTyped = str, words: Sequence[str] = ()
) -> AsyncGenerator[str, None]:
    """What the person types, until they leave; without a terminal, the lines of standard input.

    While they type, `hold` keeps messages back. The history on disk is kept as `scrub` leaves it.
    `pop_typed` has what was typed before there was a prompt; Tab completes `words`.
    """
    if not sys.stdin.isatty():
        async for line in _read_lines():
            yield line
        return
    async for line in _read_typed(hold, scrub, pop_typed, words):
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
    hold: Hold, scrub: Scrub, pop_typed: TakeTyped, words: Sequence[str]
) -> AsyncGenerator[str, None]:
    session = _open_prompt(scrub, words)
    while True:
        typed = pop_typed()
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
    from amplifier_hooks.cli.text.output import to_prompt_toolkit

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
    from amplifier_hooks.machine.locations import find_data_home

    path = find_data_home() / "amplifier" / "history"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    return path


logger = logging.getLogger(__name__)

_COMMAND = re.compile(r"/[a-z]*(\s|$)", re.IGNORECASE)  # and not the path of a file


class Conversation:
    """Opens the agent, and another one when the person wants to start over."""

    agent: Agent
    edits: EditLog
    lines: AsyncGenerator[str, None]

    def __init__(self, options: AgentOptions) -> None:
        self.options = options
        self._is_over = False
        self._starts_over = False
        self._said_before: list[str] = []

    async def run(self) -> int:
        """Talk until the person leaves."""
        self.lines = read_prompts(self._hold, self._scrub, self._pop_typed, sorted(COMMANDS))
        async with aclosing(self.lines):
            while not self._is_over:
                await self._talk()
        return exit_codes.DONE

    def leave(self) -> None:
        """End the conversation."""
        self._is_over = True

    def start_over(self) -> None:
        """End this session and begin another one."""
        self._starts_over = True

    async def ask(self, question: str) -> bool:
        """Whether the next line of the person is a yes; anything else is a no."""
        self.agent.notify(f"{question} (y/n)", "warning")
        answer = await anext(self.lines, "")
        return answer.casefold() in {"y", "yes"}

    def add_to_next_prompt(self, text: str) -> None:
        """Say something to the agent, in front of the next prompt."""
        self._said_before.append(text)

    async def _talk(self) -> None:
        self._starts_over = False
        async with open_agent(self.options) as agent:
            self.agent = agent
            self.edits = EditLog()
            self.edits.watch(agent.session.coordinator.hooks)
            agent.display.watch_keys(agent.stop_turn)
            greet(agent)
            show_last_exchange(agent.resumed_from)
            while not (self._is_over or self._starts_over):
                line = await anext(self.lines, None)
                if line is None:
                    self.leave()
                else:
                    await self._run_line(line)
        if self.options.save and agent.turns:
            say_goodbye(agent)
        self.options = replace(self.options, resume=None)

    async def _run_line(self, line: str) -> None:
        """A failure ends the turn or the command, not the conversation."""
        try:
            if _COMMAND.match(line):
                await run_command(self, line)
            else:
                await self._run_turn(line)
        except Exception as error:
            expected = exit_codes.is_expected(error)
            if not expected and self.agent.session.status != "error":  # not in the agent's work
                raise
            logger.debug("The turn failed", exc_info=True)
            why = (str(error) if expected else "") or describe_error(error)
            self.agent.notify(self.agent.session.coordinator.scrub(why), "error")

    async def _run_turn(self, line: str) -> None:
        agent = self.agent
        prompt = "\n\n".join([*self._said_before, line])
        self._said_before.clear()
        self.edits.start_turn()
        try:
            reply = await agent.run_turn(prompt)
            if remark := agent.make_remark(reply):
                agent.notify(*remark)
            agent.display.show_result()
        finally:
            if self.options.save:
                await agent.save()

    def _hold(self) -> AbstractContextManager[None]:
        return self.agent.display.hold()

    def _scrub(self, text: str) -> str:
        return str(self.agent.session.coordinator.scrub(text))

    def _pop_typed(self) -> str:
        return self.agent.display.pop_typed()

"""A conversation: lines of a person, turns of an agent, and commands in between."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing
from dataclasses import replace

from amplifier_core.utils.describe import describe_error
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import Agent, AgentOptions, open_agent
from amplifier_hooks.cli.commands.chat.edit_log import EditLog
from amplifier_hooks.cli.commands.chat.greeting import greet, say_goodbye
from amplifier_hooks.cli.commands.chat.lines import read_prompts
from amplifier_hooks.cli.commands.chat.slash_commands import COMMANDS, run_command
from amplifier_hooks.cli.commands.resume import show_last_exchange

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
        self.lines = read_prompts(self._hold, self._scrub, self._take_typed, sorted(COMMANDS))
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

    def tell_agent(self, text: str) -> None:
        """Say something to the agent, in front of the next prompt."""
        self._said_before.append(text)

    async def _talk(self) -> None:
        self._starts_over = False
        async with open_agent(self.options) as agent:
            self.agent, self.edits = agent, EditLog()
            self.edits.watch(agent.session.coordinator.hooks)
            agent.display.watch_keys(agent.stop_turn)
            greet(agent)
            show_last_exchange(agent.resumed_from)
            while not (self._is_over or self._starts_over):
                line = await anext(self.lines, None)
                if line is None:
                    self.leave()
                else:
                    await self._take_line(line)
        if self.options.save and agent.turns:
            say_goodbye(agent)
        self.options = replace(self.options, resume=None)

    async def _take_line(self, line: str) -> None:
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

    def _take_typed(self) -> str:
        return self.agent.display.take_typed()

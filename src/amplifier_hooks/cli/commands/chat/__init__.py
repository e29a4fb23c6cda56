"""amplifier chat: a conversation that is saved and can go on another day."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli.commands.agent import Sigterm, handle_sigterm
from amplifier_hooks.cli.options import add_agent_options

if TYPE_CHECKING:
    from amplifier_hooks.cli.commands.chat.conversation import Conversation

EPILOG = """\b
Examples:
  amplifier chat
  amplifier chat --resume "fix the parser"

\b
Keys:
  Enter            send            Alt-Enter   new line
  Up, Down         earlier lines   Ctrl-R      search them
  Tab              complete a /command
  Esc, Ctrl-C      stop the agent at once; what was said and done stays
  Ctrl-D, /exit    leave; the session is saved
"""


@click.command(epilog=EPILOG)
@click.option("--resume", metavar="SESSION", help="Continue a saved session (id or name).")
@add_agent_options
def chat(no_save: bool = False, **flags: Any) -> int:
    """Talk with the agent."""
    from amplifier_hooks.cli.commands.agent import AgentOptions
    from amplifier_hooks.cli.commands.chat.conversation import Conversation

    given = {key: value for key, value in flags.items() if value is not None}
    with handle_sigterm() as sigterm:
        talk = Conversation(AgentOptions(save=not no_save, **given))
        return asyncio.run(_talk(talk, sigterm))


async def _talk(talk: Conversation, sigterm: Sigterm) -> int:
    if task := asyncio.current_task():
        sigterm.stop_with(task.cancel)
    return await talk.run()

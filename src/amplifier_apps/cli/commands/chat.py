"""amplifier chat: a conversation that is saved and can go on another day."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_apps.cli.options import agent_flags

if TYPE_CHECKING:
    from amplifier_apps.cli.commands.agent import Agent

EPILOG = """\b
Examples:
  amplifier chat
  amplifier chat --resume "fix the parser"

\b
Keys:
  Enter            send            Alt-Enter   new line
  Up, Down         earlier lines   Ctrl-R      search them
  Ctrl-C           clear the line; during a turn: stop after this step, twice: stop at once
  Ctrl-D, /exit    leave; the session is saved
"""

HELP = """\
/help    this list
/status  session, tokens, cost
/hooks   the hooks that are at work
/name X  call this session X
/exit    leave; the session is saved
Alt-Enter starts a new line."""


@click.command(epilog=EPILOG)
@click.option("--resume", metavar="SESSION", help="Go on with a session (id or name).")
@agent_flags
def chat(no_save: bool = False, **flags: Any) -> int:
    """Talk with the agent."""
    from amplifier_apps.cli.commands.agent import AgentOptions

    given = {key: value for key, value in flags.items() if value is not None}
    return asyncio.run(_chat(AgentOptions(save=not no_save, **given)))


async def _chat(options: Any) -> int:
    from amplifier_apps.cli.commands.agent import open_agent

    async with open_agent(options) as agent:
        _greet(agent)
        async for line in prompts(agent):
            if line.startswith("/"):
                if not await command(agent, line):
                    break
            else:
                await _turn(agent, line, save=options.save)
    if options.save and agent.turns:
        _farewell(agent)
    return 0


async def _turn(agent: Agent, line: str, *, save: bool) -> None:
    """A failed turn ends the turn, not the conversation."""
    from amplifier_core.errors import AmplifierError
    from amplifier_core.llm_errors import LLMError

    try:
        reply = await agent.turn(line)
    except (AmplifierError, LLMError, OSError) as error:
        agent.display.show_message(str(error), "error", "amplifier")
    else:
        if remark := agent.remark(reply):
            agent.display.show_message(*remark, "amplifier")
        agent.display.result()
    if save:
        await agent.save()


def _greet(agent: Agent) -> None:
    from amplifier_apps.cli.text import paper
    from amplifier_apps.cli.text.escape import escape

    if not sys.stdin.isatty():
        return
    if agent.session.is_resumed:
        name = agent.info.name or agent.session.session_id
        paper.say(("dim", f"Resumed {escape(name)} after {_turns(agent)}. /help"))
    else:
        paper.say(("dim", "Ask for something. /help shows the commands, Ctrl-D leaves."))


def _farewell(agent: Agent) -> None:
    from amplifier_apps.cli.text import paper

    if sys.stdin.isatty():
        short = agent.session.session_id[:8]
        paper.say(("dim", "Saved. Go on with: "), ("tool", f"amplifier chat --resume {short}"))


async def prompts(agent: Agent) -> AsyncIterator[str]:
    """What the person says, until they leave; without a terminal, the lines of standard input."""
    if not sys.stdin.isatty():
        async for line in _piped():
            yield line
        return
    async for line in _typed(agent):
        yield line


async def _piped() -> AsyncIterator[str]:
    """Lines from a thread that may be left behind: one that reads cannot be interrupted."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in chain(sys.stdin, [""]):
            loop.call_soon_threadsafe(lines.put_nowait, line)

    threading.Thread(target=read, daemon=True).start()
    while line := await lines.get():
        if line.strip():
            yield line.strip()


async def _typed(agent: Agent) -> AsyncIterator[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import FormattedText
    from prompt_toolkit.history import FileHistory

    from amplifier_apps.cli.terminal import output_on

    session: PromptSession[str] = PromptSession(
        FormattedText([("ansicyan bold", "› ")]),
        history=FileHistory(str(_history_file())),
        key_bindings=_keys(),
        multiline=True,
        prompt_continuation="  ",
        enable_open_in_editor=True,
        output=output_on(sys.stdout),
    )
    while True:
        try:
            with agent.display.held():
                line = await session.prompt_async()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if line.strip():
            yield line.strip()
            click.echo()


def _keys() -> Any:
    """Enter sends (what was typed ahead arrives as Ctrl-J); Alt-Enter begins a new line."""
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()
    keys.add("enter")(lambda event: event.current_buffer.validate_and_handle())
    keys.add("escape", "enter")(lambda event: event.current_buffer.insert_text("\n"))
    keys.add("c-j")(lambda event: event.current_buffer.validate_and_handle())
    return keys


def _history_file() -> Path:
    from amplifier_foundation.session.store import data_home

    path = data_home() / "amplifier" / "history"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    return path


async def command(agent: Agent, line: str) -> bool:
    """Carry out a /command; False when it ends the conversation."""
    name, _, rest = line.partition(" ")
    if name in ("/exit", "/quit"):
        return False
    said = {
        "/help": lambda: HELP,
        "/status": lambda: _status(agent),
        "/hooks": lambda: _hooks(agent),
        "/name": lambda: _name(agent, rest),
    }.get(name)
    text = said() if said else f"No command {name}; /help lists them."
    agent.display.show_message(text, "info" if said else "warning", "amplifier")
    return True


def _turns(agent: Agent) -> str:
    return f"{agent.turns} turn{'s' * (agent.turns != 1)}"


def _status(agent: Agent) -> str:
    stats = agent.session.stats
    name = agent.info.name or "not named yet"
    return (
        f"{agent.session.session_id} ({name})\n{_turns(agent)}, "
        f"{_calls(stats['tool_invocations'])}, {agent.display.state.summary()}"
    )


def _calls(count: int) -> str:
    return f"{count} tool call{'s' * (count != 1)}"


def _hooks(agent: Agent) -> str:
    handlers = agent.session.coordinator.hooks.list_handlers()
    rows = [f"{event}: {', '.join(names)}" for event, names in sorted(handlers.items())]
    return "\n".join(rows)


def _name(agent: Agent, name: str) -> str:
    if not name.strip():
        return f"This session is called {agent.info.name or 'nothing yet'}."
    agent.rename(name.strip())
    return f"This session is now called {name.strip()}."

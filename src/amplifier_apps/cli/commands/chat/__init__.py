"""amplifier chat: a conversation that is saved and can go on another day."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import click

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.options import add_agent_options

if TYPE_CHECKING:
    from amplifier_apps.cli.commands.agent import Agent, AgentOptions

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
/reload  show what changed in the bundle and its hooks, and use it
/exit    leave; the session is saved
Alt-Enter starts a new line."""


@click.command(epilog=EPILOG)
@click.option("--resume", metavar="SESSION", help="Go on with a session (id or name).")
@add_agent_options
def chat(no_save: bool = False, **flags: Any) -> int:
    """Talk with the agent."""
    from amplifier_apps.cli.commands.agent import AgentOptions

    given = {key: value for key, value in flags.items() if value is not None}
    return asyncio.run(_chat(AgentOptions(save=not no_save, **given)))


async def _chat(options: AgentOptions) -> int:
    from amplifier_apps.cli.commands.agent import open_agent
    from amplifier_apps.cli.commands.chat.lines import read_prompts

    async with open_agent(options) as agent:
        _greet(agent)
        async for line in read_prompts(agent.display.hold, agent.session.coordinator.scrub):
            if line.strip() == "/reload":
                await agent.session.reload()
            elif line.startswith("/"):
                if not run_command(agent, line):
                    break
            else:
                await _run_turn(agent, line, save=options.save)
    if options.save and agent.turns:
        _say_goodbye(agent)
    return exit_codes.DONE


async def _run_turn(agent: Agent, line: str, *, save: bool) -> None:
    """A failed turn ends the turn, not the conversation."""
    try:
        reply = await agent.run_turn(line)
    except Exception as error:
        if not exit_codes.is_expected(error):
            raise
        agent.notify(str(error), "error")
    else:
        if remark := agent.make_remark(reply):
            agent.notify(*remark)
        agent.display.show_result()
    if save:
        await agent.save()


def _greet(agent: Agent) -> None:
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.output import print_line

    if not sys.stdin.isatty():
        return
    if agent.session.is_resumed:
        name = agent.info.name or agent.session.session_id
        print_line(("dim", f"Resumed {escape(name)} after {_count_turns(agent)}. /help"))
    else:
        print_line(("dim", "Ask for something. /help shows the commands, Ctrl-D leaves."))


def _say_goodbye(agent: Agent) -> None:
    from amplifier_apps.cli.text.output import print_line

    if sys.stdin.isatty():
        short = agent.session.session_id[:8]
        print_line(("dim", "Saved. Go on with: "), ("tool", f"amplifier chat --resume {short}"))


def run_command(agent: Agent, line: str) -> bool:
    """Carry out a /command; False when it ends the conversation."""
    name, _, rest = line.partition(" ")
    if name in ("/exit", "/quit"):
        return False
    known = {
        "/help": lambda: HELP,
        "/status": lambda: _describe_status(agent),
        "/hooks": lambda: _list_hooks(agent),
        "/name": lambda: _rename(agent, rest),
    }.get(name)
    text = known() if known else f"No command {name}; /help lists them."
    agent.notify(text, "info" if known else "warning")
    return True


def _count_turns(agent: Agent) -> str:
    return f"{agent.turns} turn{'s' * (agent.turns != 1)}"


def _describe_status(agent: Agent) -> str:
    stats = agent.session.stats
    name = agent.info.name or "not named yet"
    return (
        f"{agent.session.session_id} ({name})\n{_count_turns(agent)}, "
        f"{_count_calls(stats['tool_invocations'])}, {agent.display.state.summarize()}"
    )


def _count_calls(count: int) -> str:
    return f"{count} tool call{'s' * (count != 1)}"


def _list_hooks(agent: Agent) -> str:
    handlers = agent.session.coordinator.hooks.list_handlers()
    rows = [f"{event}: {', '.join(names)}" for event, names in sorted(handlers.items())]
    return "\n".join(rows)


def _rename(agent: Agent, name: str) -> str:
    if not name.strip():
        return f"This session is called {agent.info.name or 'nothing yet'}."
    agent.rename(name.strip())
    return f"This session is now called {name.strip()}."

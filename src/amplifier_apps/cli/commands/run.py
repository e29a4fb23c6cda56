"""amplifier run: one task, from the prompt to the answer."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_apps.cli.commands.run_result import RunCommand, Terminated, report_failure
from amplifier_apps.cli.options import add_agent_options

if TYPE_CHECKING:
    from amplifier_apps.cli.commands.agent import AgentOptions
    from amplifier_apps.cli.display.display import Display

EPILOG = """\b
Examples:
  amplifier run "explain what this project does"
  git diff | amplifier run "review this change:" -
  amplifier run --provider local "say hello"
  amplifier run --approve edits "add docstrings to src/parser.py"
  amplifier run --json "list the tests" | jq -r 'select(.type=="result").response'

Exit codes: 0 done, 1 failed, 3 bundle or module cannot be used, 4 no model to talk to, 5 denied
by a hook, 130 interrupted, 143 ended by SIGTERM.
"""


@click.command(cls=RunCommand, epilog=EPILOG)
@click.argument("prompt", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Events and the result as JSON lines.")
@click.option("--resume", metavar="SESSION", help="Go on with a session (id or name).")
@add_agent_options
def run(prompt: tuple[str, ...], no_save: bool, **flags: Any) -> int:
    """Give the agent one task. A PROMPT of - (alone or last) reads standard input."""
    from amplifier_apps.cli.commands.agent import AgentOptions
    from amplifier_apps.cli.display.display import make_display

    display = make_display("json") if flags["as_json"] else None
    facts: dict[str, Any] = {"working_dir": str(Path.cwd())}
    with report_failure(display, facts) if display else nullcontext():
        text = read_prompt(prompt)
        return asyncio.run(_run(text, AgentOptions(save=not no_save, **flags), display, facts))


def read_prompt(words: tuple[str, ...]) -> str:
    """The task: the words, standard input where they say so or say nothing."""
    parts = [word for word in words if word != "-"]
    piped = "-" in words or (not words and not sys.stdin.isatty())
    if piped:
        parts.append(sys.stdin.read())
    text = "\n".join(parts) if piped else " ".join(parts)
    if not text.strip():
        raise click.UsageError('There is no prompt; try: amplifier run "explain this project"')
    return text


async def _run(
    prompt: str, options: AgentOptions, display: Display | None, facts: dict[str, Any]
) -> int:
    from amplifier_apps.cli.commands.agent import open_agent
    from amplifier_apps.cli.commands.resume import show_last_exchange

    with _heed_sigterm() as sigterm:
        async with open_agent(options, display) as agent:
            facts |= {"session_id": agent.session.session_id, "working_dir": str(Path.cwd())}
            if not options.as_json:
                show_last_exchange(agent.resumed_from)
            sigterm.stop = agent.stop_turn
            reply = await agent.run_turn(prompt)
            status, code = agent.status, agent.exit_code
            if remark := agent.make_remark(reply):
                agent.notify(*remark)
    agent.display.show_result(response=reply, status=status, **facts)
    return code


@dataclass(slots=True)
class _Sigterm:
    """Whether the process was told to end, and what stops the work that is under way."""

    stop: Callable[[], Any]
    told: bool = False

    def heed(self) -> None:
        """Stop the work; a second signal does not wait for it."""
        self.told = True
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
        self.stop()


@contextmanager
def _heed_sigterm() -> Iterator[_Sigterm]:
    """Let SIGTERM end a run as Ctrl-C does: the session is ended and saved, its trail closed."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    sigterm = _Sigterm(task.cancel)
    loop.add_signal_handler(signal.SIGTERM, sigterm.heed)
    try:
        yield sigterm
    except asyncio.CancelledError:
        if not sigterm.told:
            raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
    if sigterm.told:
        raise Terminated("Ended by SIGTERM.")

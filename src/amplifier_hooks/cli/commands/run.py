"""amplifier run: one task, from the prompt to the answer."""

from __future__ import annotations

import asyncio
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli.commands.run_result import RunCommand, report_failure
from amplifier_hooks.cli.commands.sigterm import Sigterm, heed_interrupts, heed_sigterm
from amplifier_hooks.cli.options import add_agent_options
from amplifier_hooks.modules.open_calls import GO_ON

if TYPE_CHECKING:
    from amplifier_hooks.cli.commands.agent import AgentOptions
    from amplifier_hooks.cli.display.display import Display

EPILOG = """\b
Examples:
  amplifier run "explain what this project does"
  git diff | amplifier run "review this change:" -
  amplifier run --provider local "say hello"
  amplifier run --approve edits "add docstrings to src/parser.py"
  amplifier run --resume 3f2a        (go on where a session was interrupted)
  amplifier run --json "list the tests" | jq -r 'select(.type=="result").response'

Exit codes: 0 done, 1 failed, 3 bundle or module cannot be used, 4 no model to talk to, 5 denied
by a hook, 130 interrupted, 143 ended by SIGTERM.
"""


@click.command(cls=RunCommand, epilog=EPILOG)
@click.argument("prompt", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Events and the result as JSON lines.")
@click.option("--resume", metavar="SESSION", help="Continue a saved session (id or name).")
@add_agent_options
def run(prompt: tuple[str, ...], no_save: bool, **flags: Any) -> int:
    """Give the agent one task. A PROMPT of - (alone or last) reads standard input."""
    from amplifier_hooks.cli.display.display import make_display

    display = make_display("json") if flags["as_json"] else None
    facts: dict[str, Any] = {"working_dir": str(Path.cwd())}
    reporting = report_failure(display, facts) if display else nullcontext()
    with reporting:
        from amplifier_hooks.cli.commands.agent import AgentOptions

        task = read_prompt(prompt, resumes=flags["resume"] is not None)
        options = AgentOptions(save=not no_save, **flags)
        with heed_interrupts(), heed_sigterm() as sigterm:
            return asyncio.run(_run(task, options, display, facts, sigterm))


def read_prompt(words: tuple[str, ...], *, resumes: bool = False) -> str:
    """The task: the words, standard input where they say so or say nothing.

    A session that is resumed needs no words to go on.
    """
    parts = [word for word in words if word != "-"]
    piped = "-" in words or (not words and not sys.stdin.isatty())
    if piped:
        parts.append(sys.stdin.read())
    text = "\n".join(parts) if piped else " ".join(parts)
    if not text.strip() and resumes:
        return GO_ON
    if not text.strip():
        raise click.UsageError('There is no prompt; try: amplifier run "explain this project"')
    return text


async def _run(
    prompt: str,
    options: AgentOptions,
    display: Display | None,
    facts: dict[str, Any],
    sigterm: Sigterm,
) -> int:
    from amplifier_hooks.cli.commands.agent import open_agent
    from amplifier_hooks.cli.commands.resume import show_last_exchange

    if task := asyncio.current_task():
        sigterm.stop_with(task.cancel)
    async with open_agent(options, display) as agent:
        facts |= {"session_id": agent.session.session_id, "working_dir": str(Path.cwd())}
        if not options.as_json:
            show_last_exchange(agent.resumed_from)
        sigterm.stop_with(agent.stop_turn)
        reply = await agent.run_turn(prompt)
        status, code = agent.status, agent.exit_code
        facts |= {"finish_reason": agent.end.finish_reason, "truncated": agent.end.is_cut}
        if remark := agent.make_remark(reply):
            agent.notify(*remark)
    sigterm.stop_with(None)
    sigterm.check()
    agent.display.show_result(response=reply, status=status, **facts)
    return code

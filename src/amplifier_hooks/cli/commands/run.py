"""amplifier run: one task, from the prompt to the answer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import Sigterm, handle_interrupts, handle_sigterm
from amplifier_hooks.cli.options import add_agent_options
from amplifier_hooks.modules.conversation import GO_ON
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.cli.commands.agent import AgentOptions
    from amplifier_hooks.cli.display.display import Display


_BY_CODE = {
    exit_codes.USAGE: "usage",
    exit_codes.CONFIGURATION: "unusable",
    exit_codes.NO_MODEL: "no_model",
    exit_codes.DENIED: "denied",
    exit_codes.TERMINATED: "terminated",
}


UNKNOWN = {
    "response": "",
    "session_id": None,
    "working_dir": None,
    "finish_reason": None,
    "truncated": False,
}
"""The facts of a result, as long as nothing is known."""


class RunCommand(click.Command):
    """A command whose `--json` ends with a result, wrong usage included."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        if "--json" not in args:
            return super().make_context(info_name, args, parent, **extra)
        with report_failure(_open_display(), {}):
            return super().make_context(info_name, args, parent, **extra)


@contextmanager
def report_failure(display: Display, facts: dict[str, Any]) -> Iterator[None]:
    """Show the result of a run that raises, with the facts known by then, and raise it again."""
    try:
        yield
    except click.exceptions.Exit:  # --help has no result
        raise
    except BaseException as error:
        ending = {"status": name_status(error), "error": describe_failure(error)}
        display.show_result(**{**UNKNOWN, **facts, **ending})
        raise


def name_status(error: BaseException) -> str:
    """One word for the way in which a run failed."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "interrupted"
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, click.ClickException):
        return _BY_CODE.get(error.exit_code, "failed")
    return _BY_CODE.get(exit_codes.find_exit_code(error), "failed")


def describe_failure(error: BaseException) -> str:
    """What went wrong, in a sentence."""
    if name_status(error) == "interrupted":
        return "Interrupted."
    text = error.format_message() if isinstance(error, click.ClickException) else str(error)
    return escape(text.strip(), lines=True) or type(error).__name__


def _open_display() -> Display:
    from amplifier_hooks.cli.display.display import make_display

    return make_display("json")


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
        with handle_interrupts(), handle_sigterm() as sigterm:
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
        status = agent.status
        code = agent.exit_code
        facts |= {"finish_reason": agent.end.finish_reason, "truncated": agent.end.is_cut}
        if remark := agent.make_remark(reply):
            agent.notify(*remark)
    sigterm.stop_with(None)
    sigterm.check()
    agent.display.show_result(response=reply, status=status, **facts)
    return code

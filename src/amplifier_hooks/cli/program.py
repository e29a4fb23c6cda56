"""The tree of commands: its groups are imported when they are called, not before."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from typing import Any

try:
    import click
except ModuleNotFoundError:  # the command is there with every install, its extra is not
    from amplifier_hooks.modules.installation import name_install_command

    sys.exit(f"The command line needs more packages: {name_install_command('cli')}")

from amplifier_audit.streams import OUTPUT, is_output_failure, print_error
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.lazy_group import LazyGroup

# The module and the function of a command have its name, unless it is in `_PLACES`.
COMMANDS = {
    "demo": "See what hooks do, in a minute; needs no key.",
    "run": "Give the agent one task.",
    "chat": "Talk with the agent.",
    "sessions": "List, show, resume and delete saved sessions.",
    "trust": "Look at what this folder would run, and allow it.",
    "hooks": "See which hooks run, in which order, and what they answer.",
    "rules": "Check rules, and let past approvals suggest new ones.",
    "events": "Describe every event: when, its fields, what answers do.",
    "modules": "List installed modules; check one of your own.",
    "audit": "Read, verify and redact the audit trail.",
    "report": "Write a report of sessions for people who were not there.",
    "replay": "Run a recorded session through today's hooks.",
    "backups": "List and restore files that were overwritten.",
    "approvals": "Answer what agents ask, from any shell.",
    "guard": "Guard Claude Code, Codex, Gemini CLI and others.",
    "mcp": "Govern MCP servers in any client; be a server yourself.",
    "judge": "Judge what programs in any language want to do, over HTTP.",
    "serve": "Show approvals and sessions in the browser; offer an API.",
    "tokens": "Make, list and revoke the tokens for that API.",
    "login-code": "Print a code that logs a browser in.",
    "init": "Write a commented bundle and a first hook.",
    "schema": "Print the JSON schema of amplifier.yaml, for editors.",
    "doctor": "Check the environment, the keys and the stores.",
    "completion": "Print the completion script for a shell.",
}

PROGRAM = "amplifier"
_COMPLETE = "_AMPLIFIER_COMPLETE"
"""What a shell sets to ask for completions."""

_WRITTEN = frozenset({"-o", "--output", "--write", "--save", "--socket"})
"""Options that name what is written or made, which may well be /dev/stdout."""

_PLACES = {"tokens": "serve", "login-code": "serve"}


class _Commands(LazyGroup):
    summaries = COMMANDS
    package = "amplifier_hooks.cli.commands"
    places = _PLACES


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from amplifier_hooks.cli.version import find_version

        click.echo(f"amplifier {find_version()}")
        ctx.exit()


EPILOG = """\b
Examples:
  amplifier demo
  amplifier run "explain what this project does"
  amplifier chat --resume "fix the parser"
  amplifier hooks list --event tool:pre

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bundle or module cannot be used, 4 no model to
talk to, 5 denied by a hook, 130 interrupted.
"""


@click.group(
    cls=_Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error, and the log.")
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version.",
)
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Hooks that watch, stop, change, ask and explain what an AI agent does."""
    ctx.obj = {"debug": debug}
    _set_up_logging(debug)


def _set_up_logging(debug: bool) -> None:
    """Show the log to those who debug; what a person must know, the display shows."""
    import logging

    if debug:
        logging.basicConfig(level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s")
        logging.getLogger("asyncio").setLevel(logging.INFO)
    else:
        logging.getLogger().addHandler(logging.NullHandler())


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Run the command and return its exit code; with `debug` an error shows its traceback."""
    try:
        outcome = _run_click(arguments)
    except click.exceptions.NoArgsIsHelpError as error:
        print_error(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        print_error(f"Error: {_describe_usage(error)}")
        return error.exit_code
    except click.Abort:
        print_error("Interrupted.")
        return exit_codes.INTERRUPTED
    except (EOFError, KeyboardInterrupt):
        print_error("\nInterrupted.")  # behind what the terminal shows of the key
        return exit_codes.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a person reads a sentence, not a traceback
        return _report_failure(error, debug)
    return outcome if isinstance(outcome, int) else exit_codes.DONE


def _run_click(arguments: list[str]) -> Any:
    """What the command returns. `cli.main` would end at any broken pipe without a word, also where
    it is not the reader of our output that has gone.
    """
    instruction = os.environ.get(_COMPLETE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, PROGRAM, _COMPLETE, instruction)
    try:
        refuse_special_files(arguments)
        with cli.make_context(PROGRAM, list(arguments)) as context:
            return cli.invoke(context)
    except click.exceptions.Exit as left:
        return left.exit_code


def refuse_special_files(arguments: Sequence[str]) -> None:
    """Raise UsageError for a pipe, a device or a socket where a command would read a file.

    Reading it could wait, or go on, without end. What is written to may be one, and what follows
    `--` is the command line of another program.
    """
    option = ""
    for word in arguments:
        if word == "--":
            return
        name, sign, value = word.partition("=")
        if word.startswith("-") and not sign:
            option = word
            continue
        if word.startswith("-"):
            option = name
            word = value
        if option not in _WRITTEN and _is_special(word):
            raise click.UsageError(
                f"{word} is a pipe, a device or a socket; name an ordinary file or a folder"
            )
        option = ""


def _is_special(word: str) -> bool:
    try:
        mode = os.stat(word).st_mode  # noqa: PTH116 - any text may be there
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _report_failure(error: Exception, debug: bool) -> int:
    """Print why the command failed; if its output was lost, `finish_streams` does. That nobody
    reads any further (`| head`) is no failure.
    """
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, BrokenPipeError) and error.filename == OUTPUT:
        return exit_codes.DONE
    if debug:
        _print_traceback(error)
    if not is_output_failure(error):
        print_error(f"Error: {_describe(error)}")
    return exit_codes.find_exit_code(error)


def _describe_usage(error: click.ClickException) -> str:
    """What was wrong, in one line, and where the right way is written."""
    from amplifier_hooks.text.escape import escape

    text = escape(" ".join(error.format_message().split()))
    context = getattr(error, "ctx", None)
    if not isinstance(error, click.UsageError) or context is None:
        return text
    end = "" if text.endswith((".", "?", "!")) else "."
    return f"{text}{end} See: {context.command_path} --help"


def _print_traceback(error: Exception) -> None:
    import traceback

    print_error("".join(traceback.format_exception(error)).rstrip())


def _describe(error: Exception) -> str:
    """An error in one line; one that nobody expected is called a bug."""
    from amplifier_hooks.text.escape import escape

    text = escape(str(error).strip(), lines=True)
    if exit_codes.is_expected(error):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text} (this is a bug; --debug shows where)"

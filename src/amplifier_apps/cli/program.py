"""The tree of commands: its groups are imported when they are called, not before."""

from __future__ import annotations

import sys
from typing import Any

try:
    import click
except ModuleNotFoundError:  # the command is there with every install, its extra is not
    from amplifier_foundation.modules.installation import name_install_command

    sys.exit(f"The command line needs more packages: {name_install_command('cli')}")

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.lazy_group import LazyGroup

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
    "serve": "Show approvals and sessions in the browser; offer an API.",
    "tokens": "Make, list and revoke the tokens for that API.",
    "login-code": "Print a code that logs a browser in.",
    "init": "Write a commented bundle and a first hook.",
    "schema": "Print the JSON schema of amplifier.yaml, for editors.",
    "doctor": "Check the environment, the keys and the stores.",
    "completion": "Print the completion script for a shell.",
}

_PLACES = {"tokens": "serve.tokens", "login-code": "serve.login_code"}


class _Commands(LazyGroup):
    summaries = COMMANDS
    package = "amplifier_apps.cli.commands"
    places = _PLACES


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from amplifier_apps.cli.version import find_version

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
        outcome: Any = cli.main(arguments, prog_name="amplifier", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        click.echo(f"Error: {_describe_usage(error)}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return exit_codes.INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click makes the second one of the first
        return _leave_pipe()
    except Exception as error:  # noqa: BLE001 - a person reads a sentence, not a traceback
        if debug:
            _print_traceback()
        click.echo(f"Error: {_describe(error)}", err=True)
        return exit_codes.find_exit_code(error)
    return outcome if isinstance(outcome, int) else exit_codes.DONE


def _describe_usage(error: click.ClickException) -> str:
    """What was wrong, in one line, and where the right way is written."""
    from amplifier_apps.cli.text.escape import escape

    text = escape(" ".join(error.format_message().split()))
    context = getattr(error, "ctx", None)
    if not isinstance(error, click.UsageError) or context is None:
        return text
    end = "" if text.endswith((".", "?", "!")) else "."
    return f"{text}{end} See: {context.command_path} --help"


def _print_traceback() -> None:
    import traceback

    click.echo(traceback.format_exc().rstrip(), err=True)


def _describe(error: Exception) -> str:
    """An error in one line; one that nobody expected is called a bug."""
    from amplifier_apps.cli.text.escape import escape

    text = escape(str(error).strip(), lines=True)
    if exit_codes.is_expected(error):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text} (this is a bug; --debug shows where)"


def _leave_pipe() -> int:
    """The reader has gone (`| head`): stop writing, without a complaint at the end."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exit_codes.DONE

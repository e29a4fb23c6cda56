"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
BUNDLE = click.option(
    "--bundle",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Use this bundle file instead of ./amplifier.yaml.",
)
SELF_TESTS = click.option(
    "--self-tests", is_flag=True, help="Also the sessions that amplifier guard check makes itself."
)

APPROVE_MODES = ("ask", "deny", "edits")


def check_approve(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """One of the modes, or `rules:` with a file that is there."""
    if value is None or value in APPROVE_MODES:
        return value
    kind, _, file = value.partition(":")
    if kind != "rules":
        raise click.BadParameter(
            f"unknown value {value!r}; have {', '.join(APPROVE_MODES)}, rules:FILE"
        )
    if not Path(file).is_file():
        raise click.BadParameter(f"there is no file {file!r}; write rules:FILE")
    return value


_AGENT_OPTIONS = [
    BUNDLE,
    click.option(
        "--provider",
        envvar="AMPLIFIER_PROVIDER",
        help="anthropic, openai, local, or the id of a provider module.",
    ),
    click.option("--model", envvar="AMPLIFIER_MODEL", help="The model's name at that provider."),
    click.option("--verbose", "-v", is_flag=True, help="Also show the results of tools."),
    click.option(
        "--approve",
        metavar="ask|deny|edits|rules:FILE",
        callback=check_approve,
        help="Who decides when a hook asks. ask: you, at the terminal. deny: nobody; the answer is "
        "no. edits: edits of files in this folder are allowed, and you are asked about the rest. "
        "rules:FILE: the first rule that matches. [default: what the bundle says, or ask]",
    ),
    click.option(
        "--dev",
        is_flag=True,
        help="Use your own edits of hooks at the next turn, unless they weaken a guard.",
    ),
    click.option(
        "--shadow",
        is_flag=True,
        help="Evaluate and record what hooks say, without any effect. See what new hooks would do.",
    ),
    click.option("--no-save", is_flag=True, help="Do not save the session."),
]


def add_options(command: F, options: Sequence[Callable[[Any], Any]]) -> F:
    """Give a command options, in the order they are listed."""
    for option in reversed(options):
        command = option(command)
    return command


def add_agent_options(command: F) -> F:
    """Give a command the options that `run` and `chat` share."""
    return add_options(command, _AGENT_OPTIONS)


def parse_json_object(text: str, option: str) -> dict[str, Any]:
    """A JSON object given as the value of an option."""
    import json

    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{option} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise click.UsageError(f"{option} must be a JSON object, got {type(value).__name__}")
    return value

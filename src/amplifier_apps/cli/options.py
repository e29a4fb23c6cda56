"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

AS_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")
BUNDLE = click.option(
    "--bundle",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A bundle file instead of ./amplifier.yaml.",
)

_AGENT_OPTIONS = [
    BUNDLE,
    click.option(
        "--provider",
        envvar="AMPLIFIER_PROVIDER",
        help="anthropic, openai, local, or the id of a provider module.",
    ),
    click.option("--model", envvar="AMPLIFIER_MODEL", help="The model's name at that provider."),
    click.option("--verbose", "-v", is_flag=True, help="Show the results of tools, too."),
    click.option(
        "--approve",
        type=click.Choice(["ask", "deny"]),
        default="ask",
        show_default=True,
        help="What happens when a hook asks: a question on the terminal, or a refusal.",
    ),
    click.option(
        "--dev",
        is_flag=True,
        help="Use your own edits of hooks at the next turn, unless they weaken a guard.",
    ),
    click.option("--no-save", is_flag=True, help="Do not keep the session."),
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
        raise click.UsageError(f"{option} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise click.UsageError(f"{option} must be a JSON object, got {type(value).__name__}")
    return value

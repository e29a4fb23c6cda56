"""The flags that `run` and `chat` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = [
    click.option(
        "--bundle",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="A bundle file instead of ./amplifier.yaml.",
    ),
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
    click.option("--no-save", is_flag=True, help="Do not keep the session."),
]


def agent_flags(command: F) -> F:
    """Add the shared flags, in the order they are listed."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

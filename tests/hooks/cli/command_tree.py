"""Every command and subcommand, found by walking the tree."""

from __future__ import annotations

from collections.abc import Iterator

import click

from amplifier_hooks.cli.program import cli


def walk(
    command: click.Command = cli, context: click.Context | None = None
) -> Iterator[click.Context]:
    """A context for each command, in the order of the help."""
    here = context or command.context_class(
        command, info_name="amplifier", help_option_names=["-h", "--help"]
    )
    yield here
    if isinstance(command, click.Group):
        for name in command.list_commands(here):
            inner = command.get_command(here, name)
            assert inner is not None
            yield from walk(inner, inner.context_class(inner, parent=here, info_name=name))


PATHS = [context.command_path for context in walk()]

"""A group of commands that are imported when they are called, not before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import ClassVar

import click

from amplifier_hooks.cli.help_context import HelpContext, adopt


class LazyGroup(click.Group):
    """Knows its commands by name and imports one when it is wanted."""

    context_class = HelpContext
    summaries: ClassVar[Mapping[str, str]]
    """Each command, with what it is for."""
    package: ClassVar[str]
    """Where they are: the module and the function of a command have its name."""
    places: ClassVar[Mapping[str, str]] = {}
    """The modules of commands that are elsewhere below the package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.summaries:
            return None
        place = self.places.get(cmd_name, cmd_name)
        module = import_module(f"{self.package}.{place}")
        return adopt(getattr(module, cmd_name.replace("-", "_")))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.summaries:
            raise click.UsageError(_suggest(name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


def _suggest(name: str, known: Sequence[str]) -> str:
    from amplifier_core.utils.suggest import find_closest
    from amplifier_hooks.cli.text.escape import escape

    close = find_closest(name, known)
    meant = f" Did you mean {close!r}?" if close else f" There are {', '.join(known)}."
    return f"No command '{escape(name)}'.{meant}"

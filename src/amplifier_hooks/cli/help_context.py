"""The context that every command runs in: it draws the help, with an example for each command."""

from __future__ import annotations

import click

from amplifier_hooks.cli.text.help import HelpPage


class HelpContext(click.Context):
    """Draws the help of its command on a page of ours."""

    def get_help(self) -> str:
        """The help of the command, with its examples at the end."""
        page, command = HelpPage(), self.command
        command.format_usage(self, page)
        command.format_help_text(self, page)
        command.format_arguments(self, page)
        command.format_options(self, page)
        page.write_epilog(command.epilog or "")
        if "Examples:" not in (command.epilog or ""):
            from amplifier_hooks.cli.examples import list_examples

            page.write_epilog("\n".join(["Examples:", *list_examples(self.command_path)]))
        return page.getvalue().rstrip("\n")


def adopt(command: click.Command) -> click.Command:
    """Give a command and those below it our context, and a summary that is never cut."""
    command.context_class = HelpContext
    if command.help and not command.short_help:
        command.short_help = " ".join(command.help.split("\n\n")[0].split())
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        adopt(inner)
    return command

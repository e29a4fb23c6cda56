"""amplifier completion: the script that teaches a shell our commands."""

from __future__ import annotations

import click

INSTALLATION = {
    "bash": 'eval "$(amplifier completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(amplifier completion zsh)"    # in ~/.zshrc',
    "fish": "amplifier completion fish | source    # in ~/.config/fish/config.fish",
}


@click.command(
    epilog="\b\nTo install it:\n" + "\n".join(f"  {line}" for line in INSTALLATION.values()),
)
@click.argument("shell", metavar="SHELL", type=click.Choice(list(INSTALLATION)))
def completion(shell: str) -> None:
    """Print the completion script for SHELL: bash, zsh or fish."""
    from click.shell_completion import get_completion_class

    from amplifier_hooks.cli.program import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"No completion for {shell!r}; have {', '.join(INSTALLATION)}")
    click.echo(kind(cli, {}, "amplifier", "_AMPLIFIER_COMPLETE").source())

"""Short forms for tests: scripts and commands from text."""

from __future__ import annotations

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.words import Word


def read_command(source: str) -> Command:
    """The first command of a script."""
    return parse_script(source).commands[0]


def read_argument(source: str) -> Word:
    """A word as the argument of a command."""
    [word] = read_command(f"echo {source}").words
    return word


def list_values(words: tuple[Word, ...]) -> list[str | None]:
    """What a shell makes of the words."""
    return [word.value for word in words]

"""Shell commands read as a shell would read them. For judging, never a sandbox."""

from amplifier_foundation.shell.pattern import CommandPattern
from amplifier_foundation.shell.script import Command, Redirect, Script, ensure_available, parse
from amplifier_foundation.shell.unwrap import unwrapped
from amplifier_foundation.shell.word import Word

__all__ = [
    "Command",
    "CommandPattern",
    "Redirect",
    "Script",
    "Word",
    "ensure_available",
    "parse",
    "unwrapped",
]

"""Shell commands read as a shell would read them. For judging, never a sandbox."""

from amplifier_foundation.bash.pattern import CommandPattern
from amplifier_foundation.bash.script import Command, Redirect, Script, ensure_available, parse
from amplifier_foundation.bash.unwrap import unwrapped
from amplifier_foundation.bash.word import Word

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

"""Shell commands read as a shell would read them. For judging, never a sandbox.

Other packages import from here, never from the files below.
"""

from amplifier_foundation.bash.danger import RULES, Finding, find_dangers
from amplifier_foundation.bash.harmless import is_harmless
from amplifier_foundation.bash.lists import LISTED, ListedCommand
from amplifier_foundation.bash.pattern import CommandPattern
from amplifier_foundation.bash.place import Place
from amplifier_foundation.bash.script import (
    Command,
    Redirect,
    Script,
    ensure_available,
    parse_script,
)
from amplifier_foundation.bash.unwrap import unwrap_command
from amplifier_foundation.bash.word import Word

__all__ = [
    "LISTED",
    "RULES",
    "Command",
    "CommandPattern",
    "Finding",
    "ListedCommand",
    "Place",
    "Redirect",
    "Script",
    "Word",
    "ensure_available",
    "find_dangers",
    "is_harmless",
    "parse_script",
    "unwrap_command",
]

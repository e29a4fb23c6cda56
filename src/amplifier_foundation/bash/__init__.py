"""Shell commands read as a shell would read them. For judging, never a sandbox.

Other packages import from here, never from the files below.
"""

from amplifier_foundation.bash.command import Command, Redirect
from amplifier_foundation.bash.danger import (
    LISTED,
    RULES,
    Finding,
    ListedCommand,
    find_dangers,
)
from amplifier_foundation.bash.directories import Directories, list_directories
from amplifier_foundation.bash.harmless import is_harmless
from amplifier_foundation.bash.inner.shells import find_script_run
from amplifier_foundation.bash.pattern import CommandPattern
from amplifier_foundation.bash.place import Place
from amplifier_foundation.bash.script import Script, parse_script
from amplifier_foundation.bash.strictness import find_unlisted
from amplifier_foundation.bash.tree import ensure_available
from amplifier_foundation.bash.unwrap import list_all_commands, unwrap_command
from amplifier_foundation.bash.word import Word

__all__ = [
    "LISTED",
    "RULES",
    "Command",
    "CommandPattern",
    "Directories",
    "Finding",
    "ListedCommand",
    "Place",
    "Redirect",
    "Script",
    "Word",
    "ensure_available",
    "find_dangers",
    "find_script_run",
    "find_unlisted",
    "is_harmless",
    "list_all_commands",
    "list_directories",
    "parse_script",
    "unwrap_command",
]

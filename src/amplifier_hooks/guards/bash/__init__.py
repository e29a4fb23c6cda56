"""Shell commands read as a shell would read them. For judging, never a sandbox.

Other packages import from here, never from the files below.
"""

from amplifier_hooks.guards.bash.command import Command, Redirect
from amplifier_hooks.guards.bash.danger import (
    LISTED,
    RULES,
    Finding,
    ListedCommand,
    find_dangers,
)
from amplifier_hooks.guards.bash.directories import Directories, list_directories
from amplifier_hooks.guards.bash.harmless import is_harmless
from amplifier_hooks.guards.bash.inner.find import read_name_test
from amplifier_hooks.guards.bash.inner.shells import find_script_run
from amplifier_hooks.guards.bash.pattern import CommandPattern
from amplifier_hooks.guards.bash.place import Place
from amplifier_hooks.guards.bash.script import Script, parse_script
from amplifier_hooks.guards.bash.strictness import find_unlisted
from amplifier_hooks.guards.bash.tree import ensure_available
from amplifier_hooks.guards.bash.unnamed import look_up_writes
from amplifier_hooks.guards.bash.unwrap import list_all_commands, unwrap_command
from amplifier_hooks.guards.bash.word import Word

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
    "look_up_writes",
    "parse_script",
    "read_name_test",
    "unwrap_command",
]

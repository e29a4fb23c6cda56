"""Shell commands read as a shell would read them. For judging, never a sandbox.

Other packages import from here, never from the files below. What is behind a name is imported when
it is asked for: guards that judge no command in a session do not read what commands do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_hooks.lazy_names import find_lazily

if TYPE_CHECKING:
    from amplifier_hooks.guards.bash.calm import is_harmless_doubt, is_settled, needs_no_words
    from amplifier_hooks.guards.bash.command_pattern import CommandPattern
    from amplifier_hooks.guards.bash.commands import Command, Redirect
    from amplifier_hooks.guards.bash.consequences import sends_away
    from amplifier_hooks.guards.bash.credentials import find_printed
    from amplifier_hooks.guards.bash.dangers import RULES, find_dangers
    from amplifier_hooks.guards.bash.edits import finds_nothing
    from amplifier_hooks.guards.bash.find import FoundFiles, list_roots
    from amplifier_hooks.guards.bash.harmless import find_unlisted, is_harmless
    from amplifier_hooks.guards.bash.implied_writes import look_up_writes
    from amplifier_hooks.guards.bash.listed_commands import LISTED, ListedCommand
    from amplifier_hooks.guards.bash.listed_reads import find_read_elsewhere
    from amplifier_hooks.guards.bash.named_files import Guarded, Read
    from amplifier_hooks.guards.bash.reads import (
        Reads,
        build_search,
        look_up_hidden_names,
        look_up_reads,
    )
    from amplifier_hooks.guards.bash.script import Script, parse_script
    from amplifier_hooks.guards.bash.situations import (
        DOWNLOADERS,
        Finding,
        Situation,
        list_situations,
        list_written,
    )
    from amplifier_hooks.guards.bash.unwrap import (
        SHELLS,
        find_script_run,
        list_all_commands,
        unwrap_command,
    )
    from amplifier_hooks.guards.bash.words import Word, ensure_available, is_remote
    from amplifier_hooks.guards.bash.workspace import Directories, Workspace, list_directories

__all__ = [
    "DOWNLOADERS",
    "LISTED",
    "RULES",
    "SHELLS",
    "Command",
    "CommandPattern",
    "Directories",
    "Finding",
    "FoundFiles",
    "Guarded",
    "ListedCommand",
    "Read",
    "Reads",
    "Redirect",
    "Script",
    "Situation",
    "Word",
    "Workspace",
    "build_search",
    "ensure_available",
    "find_dangers",
    "find_printed",
    "find_read_elsewhere",
    "find_script_run",
    "find_unlisted",
    "finds_nothing",
    "is_harmless",
    "is_harmless_doubt",
    "is_remote",
    "is_settled",
    "list_all_commands",
    "list_directories",
    "list_roots",
    "list_situations",
    "list_written",
    "look_up_hidden_names",
    "look_up_reads",
    "look_up_writes",
    "needs_no_words",
    "parse_script",
    "sends_away",
    "unwrap_command",
]

if not TYPE_CHECKING:
    __getattr__ = find_lazily(
        __name__,
        {
            "calm": ("is_harmless_doubt", "is_settled", "needs_no_words"),
            "command_pattern": ("CommandPattern",),
            "commands": ("Command", "Redirect"),
            "consequences": ("sends_away",),
            "credentials": ("find_printed",),
            "dangers": ("RULES", "find_dangers"),
            "edits": ("finds_nothing",),
            "find": ("FoundFiles", "list_roots"),
            "harmless": ("find_unlisted", "is_harmless"),
            "implied_writes": ("look_up_writes",),
            "listed_commands": ("LISTED", "ListedCommand"),
            "listed_reads": ("find_read_elsewhere",),
            "named_files": ("Guarded", "Read"),
            "reads": ("Reads", "build_search", "look_up_hidden_names", "look_up_reads"),
            "script": ("Script", "parse_script"),
            "situations": (
                "DOWNLOADERS",
                "Finding",
                "Situation",
                "list_situations",
                "list_written",
            ),
            "unwrap": ("SHELLS", "find_script_run", "list_all_commands", "unwrap_command"),
            "words": ("Word", "ensure_available", "is_remote"),
            "workspace": ("Directories", "Workspace", "list_directories"),
        },
    )

"""Files that a command would write without naming them, found by looking, never by running it.

Copies of folders, members of archives, what a patch names, what git takes out of a commit or its
index. Everything looked at may be hostile: it is read with limits, and nothing in it is run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.unnamed.archives import find_extracted
from amplifier_hooks.guards.bash.unnamed.copies import find_copied, find_downloaded
from amplifier_hooks.guards.bash.unnamed.git_writes import find_git_writes
from amplifier_hooks.guards.bash.unnamed.lookup import NOTHING, Lookup, Search, Wanted, Write
from amplifier_hooks.guards.bash.unnamed.patches import find_patched
from amplifier_hooks.guards.bash.unnamed.quoted import find_quoted

__all__ = ["Lookup", "Wanted", "Write", "look_up_writes"]

_SECONDS = 4.0
_FINDERS: tuple[Callable[[Search], Lookup], ...] = (
    find_copied,
    find_downloaded,
    find_extracted,
    find_patched,
    find_git_writes,
    find_quoted,
)


def look_up_writes(
    commands: Sequence[Command],
    bases: Sequence[Path],
    home: Path,
    wanted: Wanted,
    script: Sequence[Command] = (),
) -> Lookup:
    """What commands would write, in each of the folders that they may run in.

    `wanted` tells from a path whether a file can be of interest at all. `script` are all commands
    of the script that these are part of.
    """
    found = NOTHING
    search = Search(
        Command(None), Path(), home, wanted, time.monotonic() + _SECONDS, script or commands
    )
    for command in commands:
        for base in bases:
            here = replace(search, command=command, base=base)
            for find in _FINDERS:
                found = found.join(find(here))
    return found

"""The command that a person types to run this program from the current folder."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

NAMES = ("amplifier", "amplifier-hooks")
"""The program is installed under both; other projects install an `amplifier` as well."""


def name_program(*, absolute: bool = False) -> str:
    """The name it was started by if the shell finds it, else its path, else the Python to run."""
    started = find_program()
    if started is None:
        return f"{quote(sys.executable)} -P -m amplifier_hooks.cli.main"
    on_path = shutil.which(started.name)
    # Not resolved further: a link into an environment is the program of that environment.
    if on_path is not None and os.path.abspath(on_path) == os.path.abspath(started):  # noqa: PTH100
        return started.name
    path = os.path.abspath(started)  # noqa: PTH100
    near = os.path.relpath(path)
    return quote(path if absolute or near.startswith("..") else near)


def find_program() -> Path | None:
    """The program that was started, or else the one beside the interpreter."""
    started = Path(sys.argv[0])
    if started.name in NAMES:
        return started
    beside = Path(sys.executable).with_name(NAMES[0])
    return beside if beside.is_file() else None


def quote(text: str) -> str:
    """A word as a shell reads it back."""
    return shlex.quote(text)

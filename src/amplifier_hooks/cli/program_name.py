"""What a person types to run this program from where they stand."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

NAME = "amplifier"


def name_program(*, absolute: bool = False) -> str:
    """`amplifier` if the shell finds this one, else its path, else the Python that runs it."""
    started = Path(sys.argv[0])
    on_path = shutil.which(NAME)
    if started.name != NAME:
        beside = Path(sys.executable).with_name(NAME)
        if not beside.is_file():
            return f"{quote(sys.executable)} -P -m amplifier_hooks.cli.main"
        started = beside
    # Not resolved further: a link into an environment is the program of that environment.
    if on_path is not None and os.path.abspath(on_path) == os.path.abspath(started):  # noqa: PTH100
        return NAME
    path = os.path.abspath(started)  # noqa: PTH100
    near = os.path.relpath(path)
    return quote(path if absolute or near.startswith("..") else near)


def quote(text: str) -> str:
    """A word as a shell reads it back."""
    return shlex.quote(text)

"""Where the lists are: ours beside this module, public ones in a folder that is never committed."""

from __future__ import annotations

import os
from pathlib import Path

PUBLIC_DATA = "AMPLIFIER_PUBLIC_DATA"
"""The variable that names the folder with the public data."""

_LISTS = Path(__file__).with_name("lists")


def read_list(name: str) -> list[str]:
    """The commands of a list of ours."""
    return read_commands((_LISTS / f"{name}.txt").read_text(encoding="utf-8"))


def read_commands(text: str) -> list[str]:
    """One a line; a line that begins with a tab belongs to the one above it."""
    commands: list[str] = []
    for line in text.splitlines():
        if line.startswith("\t"):
            commands[-1] += f"\n{line[1:]}"
        elif line.strip() and not line.startswith("#"):
            commands.append(line)
    return commands


def find_public(name: str) -> Path | None:
    """A public file, if the environment says where such files are and it is there."""
    folder = os.environ.get(PUBLIC_DATA)
    path = Path(folder, name) if folder else None
    return path if path is not None and path.is_file() else None

"""A folder as people write it."""

from __future__ import annotations

from pathlib import Path


def shorten_folder(folder: str) -> str:
    """The folder, with a tilde for the home that it lies in."""
    path, home = Path(folder), Path.home()
    if path == home:
        return "~"
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else folder

"""A table of tools: what a guard has to know about each, by globs of their names."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TypeVar

T = TypeVar("T")


def fits_glob(tool: str, glob: str) -> bool:
    """Whether a glob names the tool, whatever the letter case of either."""
    return fnmatchcase(tool, glob) or fnmatchcase(tool.casefold(), glob.casefold())


def look_up_tool(table: Mapping[str, T], tool: str) -> T | None:
    """What the first glob that fits says; if none does, letter case makes no difference.

    A tool that somebody calls `bash` is not to pass a guard of `Bash`.
    """
    for glob, entry in table.items():
        if fnmatchcase(tool, glob):
            return entry
    return next((entry for glob, entry in table.items() if fits_glob(tool, glob)), None)

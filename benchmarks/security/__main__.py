"""Prints the table; with a file of commands, one a line, what is said about each of them.

Usage: python -m benchmarks.security [FILE [plain|project|guarded]]
"""

from __future__ import annotations

import logging
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

from benchmarks import security
from benchmarks.security.data import read_commands
from benchmarks.security.judge import Place, judge_commands
from benchmarks.security.table import Row, format_table


def list_rows() -> Iterator[Row]:
    """The rows of every module here that has some."""
    for module in pkgutil.iter_modules(security.__path__, "benchmarks.security."):
        if not module.name.endswith("__main__"):
            yield from getattr(import_module(module.name), "rows", list)()


def show_answers(file: Path, place: Place) -> None:
    """One line for each command: what is said, and why."""
    commands = read_commands(file.read_text(encoding="utf-8"))
    for command, answer in zip(commands, judge_commands(commands, place), strict=True):
        print(f"{answer.action}\t{command!r}\t{answer.reason or ''}")


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    if len(sys.argv) > 1:
        show_answers(Path(sys.argv[1]), cast("Place", (sys.argv[2:] or ["project"])[0]))
    else:
        print(format_table(list(list_rows())))

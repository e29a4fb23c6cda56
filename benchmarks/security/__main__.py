"""Prints the tables; with a file of commands, one a line, what is said about each of them.

Usage: python -m benchmarks.security                          print the tables
       python -m benchmarks.security --write [PART]           the same, and write the page;
                                                              PART: rows or comparison only
       python -m benchmarks.security --page                   write the page from the known figures
       python -m benchmarks.security FILE [plain|project|guarded]
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
from benchmarks.security.compared_texts import KINDS
from benchmarks.security.data import read_commands
from benchmarks.security.judge import Place, judge_commands
from benchmarks.security.page import (
    format_comparison,
    read_figures,
    renew_comparison,
    renew_page,
    renew_rows,
    write_figures,
)
from benchmarks.security.rivals import compare
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


def measure(part: str, *, write: bool) -> None:
    """Measure what there is, or `rows` or `comparison` only; print it, and write the page."""
    figures = read_figures()
    if part != "comparison":
        rows = list(list_rows())
        print(f"{format_table(rows)}\n", flush=True)
        figures = renew_rows(figures, rows)
    if part != "rows":
        figures = renew_comparison(figures, compare())
        print("\n".join(format_comparison(figures, kind) for kind in KINDS))
    if write:
        write_figures(figures)
        renew_page(figures)


def main(arguments: list[str]) -> None:
    """Do what the usage says."""
    match arguments:
        case []:
            measure("", write=False)
        case ["--write", *part]:
            measure("".join(part), write=True)
        case ["--page"]:
            renew_page(read_figures())
        case [file, *place]:
            show_answers(Path(file), cast("Place", (place or ["project"])[0]))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(sys.argv[1:])

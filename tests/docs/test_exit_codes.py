"""The tables of exit codes on the pages are those of the programs."""

from __future__ import annotations

import re
from pathlib import Path

import click

from amplifier_audit.report import EXIT_CODES
from amplifier_core.errors import SessionDenied
from amplifier_hooks import BundleError
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import Terminated
from amplifier_hooks.cli.commands.plan import NoModel
from amplifier_hooks.cli.commands.run import name_status

DOCS = Path(__file__).parents[2] / "docs"
CODES = {value for name, value in vars(exit_codes).items() if name.isupper() and name[0] != "_"}
# What ends a run, and the exit code that `program.run` gives it.
RAISED: list[tuple[BaseException, int]] = [
    *(
        (error, exit_codes.find_exit_code(error))
        for error in (
            RuntimeError("x"),
            TimeoutError("x"),
            BundleError([]),
            NoModel("x"),
            SessionDenied("x"),
        )
    ),
    (click.UsageError("x"), click.UsageError.exit_code),
    (KeyboardInterrupt(), exit_codes.INTERRUPTED),
    (click.Abort(), exit_codes.INTERRUPTED),
    (Terminated(), exit_codes.TERMINATED),
]
_TABLE = r"^\|{header}.*\n\|[-|]+\n((?:\|.*\n)+)"


def read_table(page: str, header: str) -> list[list[str]]:
    """The cells of the one table of a page whose header begins like this."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (rows,) = re.findall(_TABLE.format(header=re.escape(header)), text, re.MULTILINE)
    return [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in rows.splitlines()]


def test_the_page_lists_every_exit_code() -> None:
    """docs/cli.md."""
    assert {int(row[0]) for row in read_table("cli.md", " code | meaning |")} == CODES


def test_the_page_gives_the_exit_code_of_each_status() -> None:
    """The object at the end of `run --json` and what a script sees say the same."""
    rows = read_table("cli.md", " `status` | exit code |")
    written = {status: int(code) for status, code, _ in rows}
    assert written["done"] == exit_codes.DONE
    for error, code in RAISED:
        assert written[name_status(error)] == code
    assert set(written) == {"done", "stopped", *(name_status(error) for error, _ in RAISED)}


def test_the_page_gives_the_exit_code_of_each_verdict() -> None:
    """docs/audit.md, and the short form in docs/cli.md."""
    rows = read_table("audit.md", " verdict | exit code |")
    found = {verdict.partition(",")[0]: int(code) for verdict, code, _ in rows}
    assert found == dict([*EXIT_CODES.items(), ("–", exit_codes.USAGE)])
    short = re.search(
        r"`amplifier audit verify` has its own codes: .*", (DOCS / "cli.md").read_text()
    )
    assert short
    named = {word: int(code) for code, word in re.findall(r"(\d) (\w+)", short[0])}
    assert named == EXIT_CODES


def test_a_replay_ends_with_codes_of_the_command() -> None:
    """docs/replay.md."""
    codes = {int(row[0]) for row in read_table("replay.md", " exit code | meaning |")}
    assert codes <= CODES

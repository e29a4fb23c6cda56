"""The help of every command: at any width, in full."""

from __future__ import annotations

import re

import click
import pytest

from amplifier_hooks.cli.lazy_group import adopt
from tests.hooks.cli.command_tree import PATHS, find
from tests.hooks.cli.program import run_at_terminal


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("path", PATHS)
def test_the_help_of_every_command_fits_and_is_whole(
    path: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is wider than the terminal, no summary ends in dots, and there is an example."""
    monkeypatch.setenv("COLUMNS", str(columns))
    context = find(path)
    shown = context.get_help()
    assert [line for line in shown.splitlines() if len(line) > columns] == []
    assert "..." not in re.sub(r"(ARGS|[A-Z]+)\]?\.\.\.|3f0c\.\.\.", "", shown)
    assert "\nExamples:\n  amplifier " in shown


def test_a_summary_in_a_list_of_commands_is_never_cut() -> None:
    """Its whole first paragraph is shown."""
    text = "A long first paragraph of help, " * 6 + "to its end."
    group = click.Group("g", commands=[click.Command("c", help=f"{text}\n\nMore.")])
    adopt(group)
    assert group.commands["c"].short_help == text


def test_help_is_coloured_at_a_terminal_and_plain_with_no_color() -> None:
    """Like everything else that is printed."""
    with run_at_terminal("hooks", "--help", columns=40, env={"NO_COLOR": ""}) as program:
        assert program.wait_end() == 0
        assert b"\x1b[1mExamples:\x1b[0m" in program.raw
    with run_at_terminal("hooks", "--help", columns=40, env={"NO_COLOR": "1"}) as program:
        assert program.wait_end() == 0
        assert b"\x1b[" not in program.raw
        assert all(len(line) <= 40 for line in program.raw.decode().splitlines())

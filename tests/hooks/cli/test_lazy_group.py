"""A group of commands that are imported when they are called."""

from __future__ import annotations

import re
import shlex
import sys

import click
import pytest

from amplifier_hooks.cli.lazy_group import EXAMPLES, HelpContext, LazyGroup, adopt, list_examples
from amplifier_hooks.cli.program import cli
from tests.hooks.cli.command_tree import PATHS, walk
from tests.hooks.cli.program import run_at_terminal


@pytest.mark.parametrize("columns", [40, 80])
def test_the_help_of_every_command_fits_and_is_whole(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is wider than the terminal, no summary ends in dots, and there is an example."""
    monkeypatch.setenv("COLUMNS", str(columns))
    for context in walk():
        shown = context.get_help()
        assert [line for line in shown.splitlines() if len(line) > columns] == []
        assert "..." not in re.sub(r"(ARGS|[A-Z]+)\]?\.\.\.|3f0c\.\.\.", "", shown)
        assert "\nExamples:\n  amplifier " in shown, context.command_path


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


def read_examples(shown: str) -> list[str]:
    """The commands below the title, without remarks and what follows a pipe."""
    (block,) = re.findall(r"(?<=\nExamples:\n)(?:  .*(?:\n|$))+", shown)
    lines = re.sub(r" \\\n +", " ", block).splitlines()
    commands = [re.split(r"\s{2,}(?!-)| # | [|>] ", line.strip())[0] for line in lines]
    return [one for one in commands if one.startswith("amplifier ")]


def parse(arguments: list[str]) -> None:
    """Parse a command line down to its last command, without running anything."""
    command: click.Command = cli
    context = command.make_context("amplifier", arguments)
    while isinstance(command, click.Group) and (rest := [*context._protected_args, *context.args]):
        name, inner, rest = command.resolve_command(context, rest)
        assert inner is not None
        command, context = inner, inner.make_context(name, rest, parent=context)


def find_mistake(arguments: list[str]) -> str | None:
    """What is wrong with a command line, if not that its file or trail is not there."""
    try:
        parse(arguments)
    except click.UsageError as error:
        text = error.format_message()
        return None if re.search("does not exist|[Nn]o trail", text) else text
    return None


def test_every_example_is_a_command_line_that_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    """An example with an option that is gone would be worse than none."""
    monkeypatch.setenv("COLUMNS", "80")
    for context in walk():
        examples = read_examples(context.get_help())
        assert examples, context.command_path
        for example in examples:
            assert find_mistake(shlex.split(example)[1:]) is None, example


def test_examples_are_typed_with_the_name_of_the_program() -> None:
    """And there are none for a command that is not there."""
    assert list_examples("amplifier doctor") == ["  amplifier doctor", "  amplifier doctor --json"]
    assert {f"amplifier {name}" for name in EXAMPLES} <= {*PATHS}
    assert list_examples("amplifier nothing") == []


def test_no_examples_are_kept_for_a_help_that_has_its_own() -> None:
    """They would be shown nowhere."""
    own = {one.command_path for one in walk() if "Examples:" in (one.command.epilog or "")}
    assert own.isdisjoint(f"amplifier {name}" for name in EXAMPLES)


class Group(LazyGroup):
    summaries = {"completion": "Print a script.", "login-code": "Print a code.", "gone": "Fail."}
    package = "amplifier_hooks.cli.commands"
    places = {"login-code": "serve"}


GROUP = Group("group")


def make_context() -> click.Context:
    return HelpContext(GROUP, info_name="group")


def test_help_imports_no_command() -> None:
    """The summaries are enough."""
    sys.modules.pop("amplifier_hooks.cli.commands.completion", None)
    assert "Print a script." in make_context().get_help()
    assert "amplifier_hooks.cli.commands.completion" not in sys.modules


@pytest.mark.parametrize("name", ["completion", "login-code"])
def test_a_command_is_found_where_it_is(name: str) -> None:
    """By its name, or in another place."""
    command = GROUP.get_command(make_context(), name)
    assert command is not None
    assert command.name == name


def test_a_command_that_is_not_listed_is_not_imported() -> None:
    """Whatever stands in the package; the closest one is suggested."""
    assert GROUP.get_command(make_context(), "doctor") is None
    with pytest.raises(click.UsageError, match="Did you mean 'completion'"):
        GROUP.resolve_command(make_context(), ["completon"])
    with pytest.raises(click.UsageError, match="There are completion, login-code, gone"):
        GROUP.resolve_command(make_context(), ["zzz"])

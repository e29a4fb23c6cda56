"""The examples in the help: there for every command, and right."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from amplifier_hooks.cli.lazy_group import EXAMPLES, list_examples
from amplifier_hooks.cli.program import cli
from tests.hooks.cli.command_tree import PATHS, find, walk


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


@pytest.mark.parametrize("path", PATHS)
def test_every_example_is_a_command_line_that_parses(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An example with an option that is gone would be worse than none."""
    monkeypatch.setenv("COLUMNS", "80")
    examples = read_examples(find(path).get_help())
    assert examples
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

"""What runs no program, but sets a name or empties a file."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.script import parse_script
from tests.hooks.guards.bash.reading import list_values


def find(source: str, program: str) -> Command:
    return next(one for one in parse_script(source).commands if one.program == program)


@pytest.mark.parametrize(
    ("source", "program", "words"),
    [
        ("export A=1 B", "export", ["A=1", "B"]),
        ("export 'A=1'", "export", ["A=1"]),
        ("declare -x A=$x", "declare", ["-x", None]),
        ("unset -v A B[1]", "unset", ["-v", "A", "B[1]"]),
        ("export > log A=1", "export", ["A=1"]),
        ("[ -n a ]", "[", ["-n", "a"]),
        ("[ $x = b ]", "[", [None, "=", "b"]),
    ],
)
def test_a_declaration_has_its_words(source: str, program: str, words: list[str | None]) -> None:
    """As a command would have them."""
    assert list_values(find(source, program).words) == words


@pytest.mark.parametrize(
    ("source", "assigns"),
    [
        ("A=1", ("A",)),
        ("A[1]=2", ("A",)),
        ("for A in x; do true; done", ("A",)),
        ("true ${A:=1}", ("A",)),
        ("((A=1))", ("A",)),
    ],
)
def test_what_only_sets_a_name_is_a_command_that_does_nothing(
    source: str, assigns: tuple[str, ...]
) -> None:
    """So that one check sees all of them."""
    assert find(source, ":").assigns == assigns


def test_a_redirection_alone_empties_a_file() -> None:
    """It belongs to no program."""
    assert [one.target.value for one in find("> a", ":").redirects] == ["a"]


def test_comparing_is_not_assigning() -> None:
    """`((A == 1))` and `((A < 1))` set nothing."""
    source = "((A == 1)); ((A < 1)); [ A = 1 ]; [[ A = 1 ]]"
    assert all(one.assigns == () for one in parse_script(source).commands)

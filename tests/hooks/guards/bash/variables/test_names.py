"""The variables that a command sets."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.unwrap import unwrap_command
from amplifier_hooks.guards.bash.variables.names import list_set_names, read_name
from tests.hooks.guards.bash.reading import read_argument


def find(source: str) -> set[str | None]:
    commands = unwrap_command(source).commands
    return {name for command in commands for name in list_set_names(command)}


@pytest.mark.parametrize(
    "source",
    [
        "A=1",
        "A+=1 ls",
        "A[0]=1",
        "export A=1",
        "export A",
        'export "A=$x"',
        "declare 'A[0]=1'",
        "command declare A=1",
        "typeset -x A",
        "readonly A=1",
        "unset A",
        "unset 'A[0]'",
        "export > log A=1",
        "for A in x; do ls; done",
        "select A in x; do ls; done",
        ": ${A:=x}",
        ": ${A=x}",
        "((A=1))",
        "((A++))",
        "((1, A = 1))",
        "echo ${x[A=1]}",
        "x[A=1]=2",
        "[[ A=1 -eq 1 ]]",
        "let A=1",
        "let 'x + --A'",
        "echo $((A+=1))",
        "for ((A=0;;)); do ls; done",
        "printf -v A x",
        "printf -vA x",
        "wait -n -p A",
        "coproc A { ls; }",
        "env A=1 ls",
        "sudo A=1 ls",
        "time A=1",
        "time A=1 ls",
    ],
)
def test_every_way_to_set_a_variable_is_known(source: str) -> None:
    """Assignments, builtins, loops, expansions, arithmetic."""
    assert "A" in find(source)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("read -r A B", {"A", "B", "REPLY"}),
        ("read -ra A -p x", {"A", "REPLY"}),
        ("mapfile -t A", {"A", "MAPFILE"}),
        ("getopts ab: A", {"A", "OPTARG"}),
        ("echo A=1", set()),
        ("printf A=1", set()),
        ("printf '%s' A", set()),
    ],
)
def test_builtins_that_read_into_variables(source: str, names: set[str]) -> None:
    """With those that they set when none is named."""
    assert find(source) == names


@pytest.mark.parametrize(
    "source",
    [
        'export "$x"',
        "export $x",
        "declare $x=1",
        "unset $x",
        "read $x",
        'read "$x"',
        "mapfile $x",
        "printf -v $x y",
        'printf "$x" y',
        "wait -p $x",
        "getopts a $x",
        "unset a*",
        'let "$x"',
        "let a*",
    ],
)
def test_a_name_that_only_running_would_tell(source: str) -> None:
    """It may be any."""
    assert None in find(source)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("A", "A"),
        ("A=1", "A"),
        ('A="$x"', "A"),
        ("A+=1", "A"),
        ("'A[1]=x'", "A"),
        ("A*", None),
        ("$A", None),
        ("1", None),
    ],
)
def test_the_name_in_a_word(written: str, name: str | None) -> None:
    """What stands before the equals sign."""
    assert read_name(read_argument(written)) == name

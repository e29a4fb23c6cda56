"""Which variables a command sets, and what arithmetic evaluates of their text."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.unwrap import unwrap_command
from amplifier_hooks.guards.bash.variables import (
    Evaluation,
    evaluate_words,
    list_set_names,
    read_expression,
    read_name,
)
from tests.hooks.guards.bash.reading import list_values, read_argument, read_command

TEXT = "x='a[$(id)]'; "


@pytest.mark.parametrize(
    "source",
    [
        "echo $((x))",
        "echo $((1 + x))",
        "echo $[x]",
        "((x))",
        "((y = x))",
        "for ((i = x;;)); do ls; done",
        "echo ${a[x]}",
        "a[x]=1",
        "echo ${s:x}",
        "echo ${s:1:x}",
        "echo ${!x}",
        "[[ $x -eq 1 ]]",
        "[[ x -lt 1 ]]",
        "[[ -v $x ]]",
        "[[ -v a[x] ]]",
        "let x",
        "let y=x+1",
        "test -v $x",
        '[ -v "$x" ]',
        "unset 'a[x]'",
        "read 'a[x]'",
        "y=([x]=1)",
        "bash -c 'echo $((x))'",
        "eval 'echo $((x))'",
    ],
)
def test_a_variable_with_a_text_is_not_evaluated_unseen(source: str) -> None:
    """The text may hold a substitution, which bash runs."""
    assert any("arithmetic" in doubt for doubt in unwrap_command(TEXT + source).unclear)


@pytest.mark.parametrize(
    "setting",
    [
        "read x < f",
        "mapfile x < f",
        "printf -v x y",
        "x=$(cat f)",
        "x=$y",
        "export x=$y",
        "declare 'x=y'",
        "for x in $(ls); do :; done",
        "for x in *; do :; done",
        "select x in a; do :; done",
        ": ${x:=y}",
        "x=(1 b)",
        "x[0]=b",
        "env x=y true",
        "getopts a x",
        "x+=b",
    ],
)
def test_whatever_sets_a_text_is_seen(setting: str) -> None:
    """Only numbers may be evaluated."""
    assert unwrap_command(f"{setting}; echo $((x))").unclear != ()


@pytest.mark.parametrize(
    "source",
    [
        "echo $((y + 1))",
        "x=5; echo $((x+1))",
        "x=$((2*3)); echo $((x))",
        "for x in 1 2; do echo $((x*2)); done",
        "for x in {1..9}; do echo $((x)); done",
        "for x in $(seq 1 10); do echo $((x)); done",
        "for ((x=0; x<3; x++)); do echo $x; done",
        "x=(1 2); echo $((x[0]))",
        "x=$#; echo $((x + ${#y} + $?))",
        "echo $((0x1F + 16#ff))",
        "x=text; echo ${y:0:3}",
        "x=text; [ $x -eq 1 ]",
        "x=text; [[ $x == y ]]",
        "x=text; [[ -v x ]]",
        "x=text; echo ${#x}",
        "echo ${a[@]} ${!a[@]} ${!b*}",
    ],
)
def test_numbers_and_names_that_nothing_sets_are_fine(source: str) -> None:
    """Counting in a loop is an everyday thing."""
    assert unwrap_command(source).unclear == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$(id)", "what a command prints"),
        ("`id`", "prints"),
        ("'x'", "quoted"),
        ("$1", "parameter"),
    ],
)
def test_an_expression_that_cannot_be_judged_by_its_names(text: str, words: str) -> None:
    """What it evaluates is not in sight."""
    names, doubt = read_expression(text)
    assert names == set()
    assert words in (doubt or "")


def test_what_one_part_sets_another_may_evaluate() -> None:
    """Scripts inside scripts are one."""
    one, other = Evaluation(texts=frozenset({"x"})), Evaluation(evaluated=frozenset({"x", "y"}))
    assert list(one.list_doubts()) == list(other.list_doubts()) == []
    [doubt] = one.join(other).list_doubts()
    assert "evaluates x" in doubt


@pytest.mark.parametrize(
    "source",
    [
        "declare -a x='($(id))'",
        'declare -a x="$y"',
        "declare -A x=$y",
        'x=(1); declare x="$y"',
        "x=(1); declare x='($(id))'",
        "x[0]=1; readonly x=$y",
        "read -a x; export x=$y",
    ],
)
def test_the_text_of_an_array_is_not_expanded_unseen(source: str) -> None:
    """`declare` and its like expand it once more."""
    assert any("expanded once more" in doubt for doubt in unwrap_command(source).unclear)


@pytest.mark.parametrize(
    "source", ["declare -a x=(1 b)", 'x=(1); declare y="$z"', 'local x="$1"', "declare -a x=b"]
)
def test_other_declarations_are_fine(source: str) -> None:
    """A visible array, a plain text, another name."""
    assert unwrap_command(source).unclear == ()


@pytest.mark.parametrize("name", ["RANDOM", "OPTIND", "HISTCMD"])
def test_some_names_evaluate_what_they_are_set_to(name: str) -> None:
    """A number is fine."""
    assert unwrap_command(f"{name}='a[$(id)]'").unclear != ()
    assert unwrap_command(f"{name}=1").unclear == ()


def test_some_names_always_hold_texts() -> None:
    """The shell sets them."""
    assert list(Evaluation(evaluated=frozenset({"REPLY"})).list_doubts()) != []


def find_commands(source: str, program: str) -> Command:
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
    assert list_values(find_commands(source, program).words) == words


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
    assert find_commands(source, ":").assigns == assigns


def test_a_redirection_alone_empties_a_file() -> None:
    """It belongs to no program."""
    assert [one.target.value for one in find_commands("> a", ":").redirects] == ["a"]


def test_comparing_is_not_assigning() -> None:
    """`((A == 1))` and `((A < 1))` set nothing."""
    source = "((A == 1)); ((A < 1)); [ A = 1 ]; [[ A = 1 ]]"
    assert all(one.assigns == () for one in parse_script(source).commands)


@pytest.mark.parametrize(
    ("source", "evaluated"),
    [
        ("let x=y+1", {"x", "y"}),
        ("let 'a[i]'", {"a", "i"}),
        ("printf -v 'a[i]' x", {"i"}),
        ("read 'a[i]'", {"i"}),
        ("test -v 'a[i]'", {"i"}),
        ("test -v $x", {"x"}),
        ("test -n $x", set()),
        ("echo 'a[i]'", set()),
    ],
)
def test_the_names_in_evaluated_words(source: str, evaluated: set[str]) -> None:
    """In expressions, and in the indices of names."""
    assert evaluate_words(read_command(source)).evaluated == evaluated


@pytest.mark.parametrize(
    ("source", "texts"),
    [("env a=b ls", {"a"}), ("env a=1 ls", set()), ("read a", {"a", "REPLY"}), ("ls a=b", set())],
)
def test_the_names_that_words_set_to_texts(source: str, texts: set[str]) -> None:
    """Assignments that the grammar takes for words."""
    assert evaluate_words(read_command(source)).texts == texts


def find_set_names(source: str) -> set[str | None]:
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
    assert "A" in find_set_names(source)


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
    assert find_set_names(source) == names


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
    assert None in find_set_names(source)


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

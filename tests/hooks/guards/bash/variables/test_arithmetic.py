"""Arithmetic evaluates the text of variables."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.unwrap import unwrap_command
from amplifier_hooks.guards.bash.variables.arithmetic import Evaluation, read_expression

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

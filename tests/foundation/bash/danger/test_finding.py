"""A command in its surroundings."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_foundation.bash.danger.finding import (
    MOST_WORDS,
    Situation,
    list_situations,
    strip_here,
)
from amplifier_foundation.bash.place import Place, Reach
from amplifier_foundation.bash.script import parse_script
from amplifier_foundation.bash.word import create_literal


def situations(source: str) -> list[Situation]:
    return list(list_situations(parse_script(source), Place(Path("/work"), Path("/home/me"))))


@pytest.mark.parametrize(
    ("source", "directories"),
    [
        ("ls", []),
        ("cd a && ls", ["a"]),
        ("cd; ls", ["~"]),
        ("pushd x; cd -P y; ls", ["x", "y"]),
        ("ls; cd later", ["later"]),
    ],
)
def test_every_command_knows_where_the_script_goes(source: str, directories: list[str]) -> None:
    """Also directories it changes to later: a loop may come back."""
    for situation in situations(source):
        assert [word.value for word in situation.directories] == directories


@pytest.mark.parametrize(
    ("source", "outputs"),
    [
        ("echo a > x", {"x"}),
        ("echo a >> ./x", {"x"}),
        ("cat < x", set()),
        ("curl -o x https://u", {"x", "https://u"}),
        ("cp a b", {"a", "b"}),
        ("ls > $x", set()),
    ],
)
def test_what_the_script_writes_or_fetches_is_known(source: str, outputs: set[str]) -> None:
    """For the check of files that are written and then run."""
    assert situations(source)[0].outputs == outputs


def test_the_worst_word_counts() -> None:
    """Of many places the worst one is named."""
    [situation] = situations("rm a / b")
    assert situation.rate(situation.command.words) == (Reach.SYSTEM, create_literal("/"))
    assert situation.rate(()) is None


def test_too_many_words_are_unknown() -> None:
    """They are not looked at one by one."""
    [situation] = situations("ls")
    many = (create_literal("a"),) * (MOST_WORDS + 1)
    assert situation.rate(many) == (Reach.UNKNOWN, create_literal("a"))
    assert situation.rate(many[1:]) == (Reach.INSIDE, create_literal("a"))


@pytest.mark.parametrize(("path", "bare"), [("./x", "x"), ("x", "x"), ("../x", "../x")])
def test_a_file_here_has_one_name(path: str, bare: str) -> None:
    """With and without `./`."""
    assert strip_here(path) == bare

"""A command in its surroundings."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.guards.bash.danger.finding import (
    Situation,
    list_situations,
    strip_directory,
)
from amplifier_hooks.guards.bash.place import Place, Reach
from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.word import create_literal


def situations(source: str) -> list[Situation]:
    return list(list_situations(parse_script(source), Place(Path("/project"), Path("/home/me"))))


@pytest.mark.parametrize(
    ("source", "directories"),
    [
        ("ls", ["/project"]),
        ("cd a && ls", ["/project", "/project/a"]),
        ("ls; cd later", ["/project", "/project/later"]),
    ],
)
def test_every_command_knows_where_the_script_goes(source: str, directories: list[str]) -> None:
    """Also directories it changes to later: a loop may come back."""
    for situation in situations(source):
        assert list(map(str, situation.directories.known)) == directories


@pytest.mark.parametrize(
    ("source", "outputs"),
    [
        ("echo a > x", {"x"}),
        ("echo a >> ./x", {"x"}),
        ("cat < x", set()),
        ("curl -o x https://u", {"x", "u"}),
        ("curl -O https://u/a/x.sh", {"x.sh"}),
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
    many = tuple(create_literal(f"a{number}") for number in range(201))
    assert situation.rate(many) == (Reach.UNKNOWN, create_literal("a0"))
    assert situation.rate(many[1:]) == (Reach.INSIDE, create_literal("a1"))


@pytest.mark.parametrize(("path", "bare"), [("./x", "x"), ("x", "x"), ("../x", "x"), ("a/", "a")])
def test_a_file_has_one_name(path: str, bare: str) -> None:
    """Wherever it is: a `cd` may change how its directory is written."""
    assert strip_directory(path) == bare


@pytest.mark.parametrize(
    ("source", "written", "paths"),
    [
        ("ls", "x", {"/project/x"}),
        (
            "cd .git; cd hooks; ls",
            "x",
            {"/project/x", "/project/.git/x", "/project/hooks/x", "/project/.git/hooks/x"},
        ),
        ("cd a; ls", "/x", {"/x"}),
    ],
)
def test_a_relative_path_has_a_place_in_every_directory(
    source: str, written: str, paths: set[str]
) -> None:
    """A write behind `cd` is judged where it really goes."""
    situation = situations(source)[-1]
    assert {str(path) for path in situation.find_paths(create_literal(written))} == paths


def test_behind_an_unknown_directory_relative_paths_are_unknown() -> None:
    """Absolute ones are not."""
    situation = situations("cd $x; rm -r bin /tmp/x")[-1]
    assert situation.rate((create_literal("bin"),)) == (Reach.UNKNOWN, create_literal("bin"))
    assert situation.rate((create_literal("/tmp/x"),)) == (Reach.INSIDE, create_literal("/tmp/x"))

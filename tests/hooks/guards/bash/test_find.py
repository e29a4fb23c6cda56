"""What `find` and `xargs` run."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.find import list_roots, name_entry_of, unwrap_find, unwrap_xargs
from amplifier_hooks.guards.bash.unwrap import unwrap_command
from amplifier_hooks.guards.bash.words import UNKNOWN, create_literal
from tests.hooks.guards.bash.reading import list_values, read_command


@pytest.mark.parametrize(
    ("source", "commands"),
    [
        ("find . -exec rm {} \\;", [["./{}"]]),
        ("find a b -exec rm -f {} +", [["-f", "a/{}", "b/{}"]]),
        ("find -exec rm {} +", [["./{}"]]),
        ("find . -exec ls \\; -execdir rm {} \\;", [[], ["./{}"]]),
        ("find $x -exec rm {} +", [[None]]),
        ("find . -name x", []),
        ("find . -exec", []),
        ("find . -exec \\;", []),
    ],
)
def test_each_command_that_find_runs(source: str, commands: list[list[str | None]]) -> None:
    """`{}` stands for something below the places that are searched."""
    found = unwrap_find(read_command(source), "test").commands
    assert [list_values(one.words) for one in found] == commands


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("fd . -x rm -rf", ["rm", "-rf", None]),
        ("fdfind -t f -X codex exec", ["codex", "exec", None]),
        ("fd x", []),
    ],
)
def test_the_command_that_fd_runs(source: str, words: list[str | None]) -> None:
    """On what it finds, which nobody knows."""
    inner = [one for one in unwrap_command(source).commands if one.via]
    assert [[one.program, *(word.value for word in one.words)] for one in inner] == [words] * bool(
        words
    )


def test_too_many_places_are_unknown() -> None:
    """Each would become a word of each command."""
    places = " ".join("abcdefghijklmnopqrstu")
    [inner] = unwrap_find(read_command(f"find {places} -exec rm {{}} +"), "test").commands
    assert list_values(inner.words) == [None]


@pytest.mark.parametrize(
    ("source", "roots"),
    [
        ("find", ["."]),
        ("find / -delete", ["/"]),
        ("find -L / -delete", ["/"]),
        ("find a b '(' -name x ')'", ["a", "b"]),
        ("find a ! -name x", ["a"]),
        ("find $x -name y", [None]),
    ],
)
def test_the_places_that_find_searches(source: str, roots: list[str | None]) -> None:
    """Up to the first condition."""
    assert [word.value for word in list_roots(read_command(source))] == roots


def test_an_entry_of_a_directory() -> None:
    """A slash at the end makes no difference; of an unknown place it is unknown."""
    assert name_entry_of(create_literal("/a/")).value == "/a/{}"
    assert name_entry_of(create_literal("/")).value == "/{}"
    assert name_entry_of(UNKNOWN).value is None


def test_xargs_adds_words_that_nobody_knows() -> None:
    """They come from its input."""
    [inner] = unwrap_xargs(read_command("xargs -n 1 rm -f"), "test").commands
    assert list_values(inner.words) == ["-f", None]


@pytest.mark.parametrize(
    "source", ["xargs -I% % x", "xargs -i {} x", "xargs --replace=@ @ x", "xargs -0I X X"]
)
def test_where_the_input_of_xargs_stands_nothing_is_known(source: str) -> None:
    """Not even the program."""
    [inner] = unwrap_xargs(read_command(source), "test").commands
    assert inner.program is None

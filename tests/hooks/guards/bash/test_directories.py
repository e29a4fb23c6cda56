"""Where a script may be while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.guards.bash.directories import Directories, list_directories
from amplifier_hooks.guards.bash.place import Place
from amplifier_hooks.guards.bash.script import parse_script


def find(source: str) -> Directories:
    place = Place(Path("/project"), Path("/home/me"))
    return list_directories(parse_script(source).commands, place)


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("ls", ["/project"]),
        ("cd a", ["/project", "/project/a"]),
        ("cd a; cd b", ["/project", "/project/a", "/project/b", "/project/a/b"]),
        ("cd /etc && ls", ["/project", "/etc"]),
        ("cd", ["/project", "/home/me"]),
        ("cd -P -- a", ["/project", "/project/a"]),
        ("cd a; cd -", ["/project", "/project/a"]),
        ("pushd a; popd", ["/project", "/project/a"]),
        ("env -C a ls", ["/project", "/project/a"]),
        ("env --chdir=a ls", ["/project", "/project/a"]),
        ("git -C a apply x", ["/project", "/project/a"]),
    ],
)
def test_every_directory_that_may_be_reached(source: str, known: list[str]) -> None:
    """One change after the other, each with and without those before it."""
    assert find(source) == Directories(tuple(map(Path, known)))


@pytest.mark.parametrize("source", ["cd $x", "cd a*", "cd ~you", "pushd $(f)", "env -C $x ls"])
def test_a_directory_that_only_running_would_tell_leaves_the_list_incomplete(source: str) -> None:
    """So that a relative path behind it is asked about."""
    assert not find(source).complete


def test_too_many_directories_are_not_all_listed() -> None:
    """Each change may double them."""
    found = find("; ".join(f"cd d{number}" for number in range(40)))
    assert not found.complete
    assert len(found.known) <= 16

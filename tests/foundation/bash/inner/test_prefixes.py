"""Commands that stand before another one."""

from __future__ import annotations

import pytest

from amplifier_foundation.bash.inner.prefixes import (
    PREFIXES,
    create_inner,
    unwrap_env,
    unwrap_flock,
    unwrap_prefix,
    unwrap_watch,
)
from tests.foundation.bash.reading import list_values, read_command


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("sudo rm x", "rm x"),
        ("sudo -u root -- rm x", "rm x"),
        ("sudo A=1 rm x", "rm x"),
        ("timeout 5 rm x", "rm x"),
        ("timeout -s KILL 5 rm x", "rm x"),
        ("nice -n 3 rm x", "rm x"),
        ("nohup rm x", "rm x"),
        ("exec -a name rm x", "rm x"),
        ("chroot /mnt rm x", "rm x"),
        ("time -p rm x", "rm x"),
    ],
)
def test_the_command_behind_a_prefix(source: str, text: str) -> None:
    """Behind its options, their values, assignments and its own arguments."""
    [inner] = unwrap_prefix(read_command(source), "test").commands
    assert inner.text == text
    assert inner.via == (source.split()[0],)


@pytest.mark.parametrize("source", ["sudo", "sudo -l", "command -v rm", "timeout 5", "nice -n 3"])
def test_a_prefix_without_a_command_runs_nothing(source: str) -> None:
    """`command -v` only looks a program up."""
    assert unwrap_prefix(read_command(source), "test").commands == ()


def test_xargs_adds_words_that_nobody_knows() -> None:
    """They come from its input."""
    [inner] = unwrap_prefix(read_command("xargs -n 1 rm -f"), "test").commands
    assert list_values(inner.words) == ["-f", None]


def test_the_inner_command_keeps_what_surrounds_it() -> None:
    """The same pipe, the same redirections; assignments before the prefix are the prefix's."""
    command = read_command("A=1 sudo rm x > log")
    inner = create_inner(command, list(command.words))
    assert inner.redirects == command.redirects
    assert (inner.program, inner.assigns) == ("rm", ())


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("env rm x", ["rm"]),
        ("env -i A=1 rm x", ["rm"]),
        ("env -u A rm x", ["rm"]),
        ("env -S 'rm x'", ["rm"]),
        ("env '-Srm x'", ["rm"]),
        ("env", []),
    ],
)
def test_env_is_a_prefix_or_splits_a_text(source: str, names: list[str]) -> None:
    """`-S` is how a script's first line says more than one word."""
    found = unwrap_env(read_command(source), "test").commands
    assert [one.name for one in found] == names


@pytest.mark.parametrize(
    ("source", "names"),
    [("flock f rm x", ["rm"]), ("flock f -c 'rm x; ls'", ["rm", "ls"]), ("flock f", [])],
)
def test_flock_is_a_prefix_or_runs_a_text(source: str, names: list[str]) -> None:
    """Behind the file that it locks."""
    found = unwrap_flock(read_command(source), "test").commands
    assert [one.name for one in found] == names


def test_watch_runs_its_words_as_a_script() -> None:
    """Quoted or not."""
    found = unwrap_watch(read_command("watch -n 1 'rm x; ls'"), "test").commands
    assert [one.name for one in found] == ["rm", "ls"]


@pytest.mark.parametrize("name", sorted(PREFIXES - {"watch"}))
def test_no_prefix_is_lost_without_words(name: str) -> None:
    """Hostile input may be a prefix and nothing else."""
    assert unwrap_prefix(read_command(name), "test").commands == ()

"""Commands that stand before another one."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.inner.prefixes import (
    PREFIXES,
    create_inner,
    unwrap_env,
    unwrap_prefix,
    unwrap_xargs,
)
from tests.hooks.guards.bash.reading import list_values, read_command


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
        ("sudo -nu root rm x", "rm x"),
        ("timeout -vk5 5 rm x", "rm x"),
        ("nice -5 rm x", "rm x"),
        ("timeout --kill=1 5 rm x", "rm x"),
        ("stdbuf -oL rm x", "rm x"),
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
    [inner] = unwrap_xargs(read_command("xargs -n 1 rm -f"), "test").commands
    assert list_values(inner.words) == ["-f", None]


@pytest.mark.parametrize(
    "source", ["xargs -I% % x", "xargs -i {} x", "xargs --replace=@ @ x", "xargs -0I X X"]
)
def test_where_the_input_of_xargs_stands_nothing_is_known(source: str) -> None:
    """Not even the program."""
    [inner] = unwrap_xargs(read_command(source), "test").commands
    assert inner.program is None


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
        ("env -vS 'rm x' y", ["rm"]),
        ("env -iS 'A=1 rm x'", ["rm"]),
        ("env --split='rm x'", ["rm"]),
        ("env - rm x", ["rm"]),
        ("env", []),
    ],
)
def test_env_is_a_prefix_or_splits_a_text(source: str, names: list[str]) -> None:
    """`-S` is how a script's first line says more than one word."""
    found = unwrap_env(read_command(source), "test").commands
    assert [one.name for one in found] == names


@pytest.mark.parametrize(
    "source",
    [
        "timeout $t rm",
        "timeout * rm",
        "nice --frobnicate rm",
        "sudo -$x rm",
        "taskset $mask rm",
        "env -S 'a\\_b'",
        "env -S 'ls ${X}'",
        "env -vS 'ls;x'",
        'env -S"$x" ls',
        "xargs -Z rm",
        "sudo",
        "chroot /x",
    ],
)
def test_options_that_are_not_known_make_the_command_uncertain(source: str) -> None:
    """Where the program stands depends on them."""
    command = read_command(source)
    unwrap = {"env": unwrap_env, "xargs": unwrap_xargs}.get(command.name or "", unwrap_prefix)
    assert unwrap(command, "test").unclear != ()


@pytest.mark.parametrize("name", sorted(PREFIXES))
def test_no_prefix_is_lost_without_words(name: str) -> None:
    """Hostile input may be a prefix and nothing else."""
    assert unwrap_prefix(read_command(name), "test").commands == ()

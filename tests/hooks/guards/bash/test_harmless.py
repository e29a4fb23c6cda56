"""Programs that only look."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.harmless import is_harmless, is_surely_harmless
from tests.hooks.guards.bash.reading import read_command


@pytest.mark.parametrize(
    "source",
    [
        "ls -la $x",
        "/bin/ls",
        "/usr/local/bin/grep x",
        "cat $x",
        "cd x",
        "rg x",
        "sort f",
        "find . -name x",
        "git status",
        "git --no-pager log",
        "git -C sub diff",
        "date +%s",
    ],
)
def test_looking_is_harmless(source: str) -> None:
    """Whatever they look at."""
    assert is_harmless(read_command(source))


@pytest.mark.parametrize(
    "source",
    [
        "rm x",
        "./ls",
        "/tmp/ls",
        "~/bin/ls",
        "$x",
        "LS",
        "rg --pre x y",
        "rg --pr x y",
        "rg $x",
        "sort -o f f",
        "sort --outp=f f",
        "find . -delete",
        "find . $x",
        "xxd -r f",
        "xxd a b",
        "jobs -x ls",
        "hash -p x ls",
        "diff -l a b",
        "tree -R",
        "less f",
        "git push",
        "git",
        "git -c core.pager=x log",
        "git log --output=x",
        "git $x",
        "git -C",
    ],
)
def test_an_option_or_a_place_can_spoil_it(source: str) -> None:
    """Options that write or run, programs from odd places, and words that may be such options."""
    assert not is_harmless(read_command(source))


@pytest.mark.parametrize(
    ("source", "sure"),
    [
        ("ls *", True),
        ("cat $x", True),
        ("sort f*", True),
        ("sort *", False),
        ("sort [a]", False),
        ("find . -name '*'", True),
        ("git status", False),
        ("bat f", False),
        ("set -e", True),
        ("set -- *", True),
        ("set $x", False),
        ("test -n x", True),
        ('test -n "$x"', True),
        ('test "$x"', True),
        ('test "$x" = "$y"', True),
        ('test ! "$x" = y', True),
        ("test $x", False),
        ('test "$x" "$y"', False),
        ("test -v x", True),
        ("test -v 'a[0]'", False),
        ('test -v "$x"', False),
        ('test "$x" -a "$y" -a "$z"', False),
    ],
)
def test_sure_is_what_no_variable_and_no_file_name_can_change(source: str, sure: bool) -> None:
    """A word may become an option or an operator, a setting may name a program."""
    assert is_surely_harmless(read_command(source)) is sure

"""Commands that hand a text to a shell."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.inner.text_runners import (
    unwrap_callback,
    unwrap_entr,
    unwrap_flock,
    unwrap_script,
    unwrap_su,
    unwrap_watch,
)
from amplifier_hooks.guards.bash.script import Script
from tests.hooks.guards.bash.reading import read_command


@pytest.mark.parametrize(
    ("unwrap", "source", "names"),
    [
        (unwrap_su, "su -c 'rm x'", ["rm"]),
        (unwrap_su, "su me --command='rm x'", ["rm"]),
        (unwrap_su, "su me", []),
        (unwrap_callback, "mapfile -C 'rm x' -c 1", ["rm"]),
        (unwrap_su, "su -lc 'rm x'", ["rm"]),
        (unwrap_su, "su - me -c 'rm x'", ["rm"]),
        (unwrap_su, "runuser -u me -- rm x", ["rm"]),
        (unwrap_script, "script -qc 'rm x' f", ["rm"]),
        (unwrap_script, "script f --command='rm x'", ["rm"]),
        (unwrap_flock, "flock f rm x", ["rm"]),
        (unwrap_flock, "flock f -c 'rm x; ls'", ["rm", "ls"]),
        (unwrap_flock, "flock -nc 'rm x' f", ["rm"]),
        (unwrap_flock, "flock f", []),
        (unwrap_watch, "watch -n 1 'rm x; ls'", ["rm", "ls"]),
        (unwrap_watch, "watch -x rm x", ["rm"]),
        (unwrap_entr, "entr -r rm x", ["rm"]),
        (unwrap_entr, "entr -s 'rm x; ls'", ["rm", "ls"]),
    ],
)
def test_the_text_is_found(
    unwrap: Callable[[Command, str], Script], source: str, names: list[str]
) -> None:
    """Wherever the option stands, and in a cluster, too."""
    script = unwrap(read_command(source), "test")
    assert [one.name for one in script.commands] == names


@pytest.mark.parametrize(
    ("unwrap", "source"),
    [
        (unwrap_su, "su me"),
        (unwrap_su, "su --frobnicate -c ls"),
        (unwrap_script, "script f"),
        (unwrap_script, 'script -c "$x"'),
        (unwrap_callback, "mapfile -C $x"),
        (unwrap_flock, "flock $x ls"),
    ],
)
def test_a_text_that_is_not_in_sight_is_in_doubt(
    unwrap: Callable[[Command, str], Script], source: str
) -> None:
    """A shell that reads its input, a text that is not literal, an option that is not known."""
    assert unwrap(read_command(source), "test").unclear != ()

"""Commands that take a script or another command as an argument."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.inner.runners import (
    RUNNERS,
    unwrap_alias,
    unwrap_debugger,
    unwrap_eval,
    unwrap_git_program,
    unwrap_parallel,
    unwrap_remote,
    unwrap_runner,
    unwrap_trap,
)
from amplifier_hooks.guards.bash.script import Script
from tests.hooks.guards.bash.reading import read_command


@pytest.mark.parametrize(
    ("unwrap", "source", "names"),
    [
        (unwrap_eval, "eval 'rm x; ls'", ["rm", "ls"]),
        (unwrap_eval, "eval rm x", ["rm"]),
        (unwrap_eval, "eval", []),
        (unwrap_trap, "trap 'rm x' EXIT", ["rm"]),
        (unwrap_trap, "trap - EXIT", []),
        (unwrap_trap, "trap", []),
        (unwrap_remote, "ssh host rm x", ["rm"]),
        (unwrap_remote, "ssh host 'rm x; ls'", ["rm", "ls"]),
        (unwrap_remote, "ssh host", []),
        (unwrap_runner, "poetry run rm x", ["rm"]),
        (unwrap_runner, "uv run --quiet -- rm x", ["rm"]),
        (unwrap_runner, "docker exec -it box rm x", ["rm"]),
        (unwrap_runner, "docker ps", []),
        (unwrap_git_program, "/usr/lib/git-core/git-push -f", ["git"]),
        (unwrap_runner, "npm run", []),
        (unwrap_alias, "alias x='rm y' z=ls", ["rm", "ls"]),
        (unwrap_alias, "alias x", []),
        (unwrap_debugger, "gdb --args rm x", ["rm"]),
        (unwrap_debugger, "gdb rm", []),
        (unwrap_remote, "ssh -p 22 host rm x", ["rm"]),
        (unwrap_remote, "ssh host -t rm x", ["rm"]),
    ],
)
def test_what_is_run_is_found(
    unwrap: Callable[[Command, str], Script], source: str, names: list[str]
) -> None:
    """Judged as if it ran here and now."""
    script = unwrap(read_command(source), "test")
    assert [one.name for one in script.commands] == names


@pytest.mark.parametrize(
    ("unwrap", "source"),
    [
        (unwrap_trap, 'trap "$x" EXIT'),
        (unwrap_eval, 'eval "$x"'),
    ],
)
def test_what_is_not_in_sight_is_in_doubt(
    unwrap: Callable[[Command, str], Script], source: str
) -> None:
    """A shell that reads its input, a text that is not literal, an option that is not known."""
    assert unwrap(read_command(source), "test").unclear != ()


def test_what_parallel_runs_is_in_doubt() -> None:
    """It is put together from its input."""
    assert unwrap_parallel(read_command("parallel rm"), "test").unclear != ()


@pytest.mark.parametrize("name", sorted(RUNNERS))
def test_every_runner_is_known_by_run_or_exec(name: str) -> None:
    """The container's name is left out."""
    words = "box rm x" if name in {"docker", "podman", "kubectl"} else "rm x"
    script = unwrap_runner(read_command(f"{name} run {words}"), "test")
    assert [one.text for one in script.commands] == ["rm x"]

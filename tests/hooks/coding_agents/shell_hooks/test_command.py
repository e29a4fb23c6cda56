"""Running a hook's command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import Handler, Reply
from amplifier_hooks.coding_agents.shell_hooks.runner import run_hook
from tests.hooks.coding_agents.shell_hooks.hook_files import write_script
from tests.support.processes import is_running
from tests.support.waiting import wait_until


async def run(folder: Path, body: bytes = b"{}", limit: int = 1000, **handler: Any) -> Reply:
    hook = Handler(dialect="claude", native="PreToolUse", where="x", **handler)
    return await run_hook(hook, body, {"FROM_AGENT": "a", "BOTH": "agent"}, str(folder), limit)


async def test_a_command_reads_the_payload_and_both_streams_come_back(tmp_path: Path) -> None:
    """With the exit code, whatever it is."""
    reply = await run(tmp_path, b'{"a": 1}', command="cat; echo oops >&2; exit 3")
    assert reply == Reply(3, '{"a": 1}', "oops\n")


async def test_arguments_run_without_a_shell(tmp_path: Path) -> None:
    """What looks like a shell's language is a plain argument."""
    program = write_script(tmp_path, "say.sh", 'echo "$1"')
    reply = await run(tmp_path, command=program, args=(program, "$HOME; echo x"))
    assert reply.stdout == "$HOME; echo x\n"


async def test_a_hooks_own_variables_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sees the environment of the session, of its agent and of its file, in that order."""
    monkeypatch.setenv("OF_SESSION", "s")
    command = 'echo "$OF_SESSION $FROM_AGENT $BOTH"'
    reply = await run(tmp_path, command=command, env={"BOTH": "own"})
    assert reply.stdout == "s a own\n"


async def test_a_command_runs_in_the_project_or_in_a_folder_of_it(tmp_path: Path) -> None:
    """A folder in the file is relative to the project."""
    (tmp_path / "sub").mkdir()
    assert (await run(tmp_path, command="pwd -P")).stdout.strip() == str(tmp_path.resolve())
    inside = await run(tmp_path, command="pwd -P", cwd="sub")
    assert inside.stdout.strip() == str((tmp_path / "sub").resolve())


async def test_a_timeout_ends_the_command_and_its_children(tmp_path: Path) -> None:
    """The hook's own limit holds, and nothing of it goes on."""
    marker = tmp_path / "pid"
    command = f"sleep 60 & echo $! > {marker}; wait"
    reply = await run(tmp_path, command=command, timeout=0.3)
    assert reply.timed_out
    assert reply.failure == f"Hook {command!r} ran longer than 0.3 s and was ended"
    await wait_until(lambda: not is_running(marker))


async def test_a_command_need_not_read_its_input(tmp_path: Path) -> None:
    """A megabyte for a script that ignores it is no failure."""
    reply = await run(tmp_path, b"x" * 1_000_000, command="exit 2")
    assert (reply.code, reply.failure) == (2, None)


async def test_output_is_kept_up_to_the_limit(tmp_path: Path) -> None:
    """A hook that prints without end fills no memory."""
    reply = await run(tmp_path, command="head -c 100000 /dev/zero | tr '\\0' x", limit=1000)
    assert reply.code == 0
    assert len(reply.stdout) < 2000


async def test_a_program_that_is_not_there_is_an_exit_code(tmp_path: Path) -> None:
    """As a shell would say it."""
    reply = await run(tmp_path, args=("/no/such/program",))
    assert (reply.code, reply.failure) == (127, None)

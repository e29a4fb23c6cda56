"""Bash: a time limit, an output limit, and nothing left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Tool
from amplifier_foundation.tools import bash


def running(marker: Path) -> bool:
    try:
        stat = Path(f"/proc/{int(marker.read_text())}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def vanishes(marker: Path) -> bool:
    for _ in range(200):
        if not running(marker):
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.fixture
async def call(coordinator):
    async def execute(config=None, **given):
        await bash.mount(coordinator, config)
        return await coordinator.tools["Bash"].execute(given)

    return execute


async def test_a_command_answers_with_what_it_printed(call, work):
    """The command runs in the working directory of the session."""
    result = await call(command="pwd -P; echo hello", description="say hello")
    assert result.success
    assert result.output == f"{work.resolve()}\nhello"
    assert result.error is None


async def test_a_failing_command_says_how(call):
    """Output, errors and the exit code are all there."""
    result = await call(command="echo out; echo err >&2; exit 3")
    assert not result.success
    assert result.error == "exit code 3"
    assert result.get_serialized_output() == "out\n[stderr]\nerr\n[exit code 3]"


async def test_silence_is_said(call):
    """A command without output still answers."""
    assert (await call(command="true")).output == "(no output)"


async def test_shells_do_not_share_state(call):
    """Every call is a new shell."""
    await call(command="cd /; export X=1")
    result = await call(command="echo [$X] $PWD")
    assert result.output.startswith("[] ")
    assert not result.output.endswith(" /")


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "'command' is required"),
        ({"command": ""}, "at least 1 character"),
        ({"cmd": "ls"}, "did you mean 'command'?"),
        ({"command": "ls", "timeout": 0}, "greater than 0"),
        ({"command": "ls", "timeout": 120000}, "it is in seconds and at most 600"),
        ({"command": "ls", "timeout": "NaN"}, "timeout"),
        ({"command": "a\0b"}, "null byte"),
        ({"command": "true", "run_in_background": True}, "unknown option 'run_in_background'"),
    ],
)
async def test_a_wrong_input_is_a_sentence(call, given, word):
    """Never an exception for ordinary mistakes."""
    result = await call(**given)
    assert not result.success
    assert word in result.get_serialized_output()


@pytest.mark.parametrize(
    "command",
    [
        "yes",
        "sleep 60",
        "trap '' TERM INT HUP; while :; do sleep 0.1; done",
        "cat /dev/zero",
        "while :; do :; done",
    ],
)
@pytest.mark.usefixtures("short_grace")
async def test_a_command_that_never_ends_is_ended(call, command):
    """The time limit holds, whatever the command does about it."""
    result = await asyncio.wait_for(call(command=command, timeout=0.3), 20)
    assert result.error == "ended after the time limit of 0.3 seconds"
    assert len(result.output) < 31_000


async def test_reading_stdin_does_not_hang(call):
    """Standard input is empty."""
    result = await call(command="read answer; echo got=$answer", timeout=10)
    assert result.output == "got="


async def test_a_hundred_megabytes_are_cut(call):
    """Output limit: the beginning and the end are kept."""
    result = await call(command="echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo last")
    assert result.success
    assert result.output.startswith("first\n")
    assert result.output.endswith("last")
    assert "bytes left out" in result.output
    assert len(result.output) < 31_000


@pytest.mark.usefixtures("short_grace")
async def test_a_background_process_ends_with_its_command(call, work):
    """Nothing is left behind, and nobody waits for it."""
    marker = work / "pid"
    result = await call(command=f"(trap '' TERM; sleep 60) & echo $! > {marker}; echo started")
    assert result.output == "started"
    assert await vanishes(marker)


@pytest.mark.parametrize("prefix", ["", "setsid ", "nohup "])
@pytest.mark.usefixtures("short_grace")
async def test_cancelling_leaves_no_process_behind(call, work, prefix):
    """Process group ended on cancel; also what left the group."""
    marker = work / "pid"
    inner = f"{prefix}bash -c 'trap \"\" TERM; echo $$ > {marker}; while :; do sleep 0.1; done'"
    task = asyncio.create_task(call(command=f"{inner} & wait; sleep 60"))
    while not (marker.exists() and marker.read_text().strip()):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await vanishes(marker)


async def test_the_agents_own_keys_are_hidden(call, monkeypatch):
    """A command has no use for the keys of the model; `hide_env` takes globs."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hunter2")
    monkeypatch.setenv("MY_TOKEN", "hunter3")
    result = await call(command="env")
    assert "hunter2" not in result.output
    assert "hunter3" in result.output
    result = await call({"hide_env": ["*_TOKEN"]}, command="env")
    assert "hunter3" not in result.output


async def test_a_working_directory_that_is_gone_is_said(call, work):
    """What cannot start says why."""
    work.rmdir()
    result = await call(command="true")
    assert "is not a directory" in result.output


async def test_options_are_checked_at_the_mount(coordinator):
    """One line with owner, key, value and the nearest right key."""
    with pytest.raises(ModuleLoadError, match="tool-bash: unknown option 'timout'"):
        await bash.mount(coordinator, {"timout": 3})


async def test_bash_explains_itself(coordinator):
    """The description names the limits that hold."""
    unmount = await bash.mount(coordinator, {"timeout": 7, "max_timeout": 9})
    tool = coordinator.tools["Bash"]
    assert isinstance(tool, Tool)
    assert "7 seconds" in tool.description
    assert tool.input_schema["required"] == ["command"]
    await unmount()
    assert coordinator.tools == {}

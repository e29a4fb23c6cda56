"""Bash: a time limit, an output limit, and nothing left behind."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.tools import bash
from tests.support.processes import is_running, is_written
from tests.support.waiting import wait_until


@pytest.fixture
async def call(coordinator):
    async def execute(config=None, **given):
        await bash.mount(coordinator, config)
        return await coordinator.tools["Bash"].execute(given)

    return execute


async def test_a_command_answers_with_what_it_printed(call, work):
    """It runs in the working directory of the session."""
    result = await call(command="pwd -P; echo hello", description="say hello")
    assert result.success
    assert result.output == f"{work.resolve()}\nhello"
    assert result.error is None


async def test_without_a_working_directory_the_process_has_one(
    call, coordinator, work, monkeypatch
):
    """The one it was started in."""
    coordinator.register_capability("session.working_dir", None)
    monkeypatch.chdir(work)
    assert (await call(command="pwd -P")).output == str(work.resolve())


async def test_a_failing_command_says_how(call):
    """Output, errors and the exit code are all there."""
    result = await call(command="echo out; echo err >&2; exit 3")
    assert not result.success
    assert result.error == "exit code 3"
    assert result.get_serialized_output() == "out\n[stderr]\nerr\n[exit code 3]"


async def test_a_command_that_was_killed_says_so(call):
    """The signal is named."""
    assert (await call(command="kill -9 $$")).error == "ended by signal 9"


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
    """It fails the call and raises nothing."""
    result = await call(**given)
    assert not result.success
    assert word in result.get_serialized_output()


async def test_the_longest_limit_holds_for_the_default_too(call):
    """Whichever of the two is shorter."""
    result = await call({"timeout": 60, "max_timeout": 0.2}, command="sleep 30")
    assert result.error == "ended after the time limit of 0.2 seconds"


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


async def test_of_a_hundred_megabytes_the_two_ends_are_kept(call):
    """And it is said that something is missing."""
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
    await wait_until(lambda: not is_running(marker), timeout=20)


@pytest.mark.parametrize("prefix", ["", "setsid ", "nohup "])
@pytest.mark.usefixtures("short_grace")
async def test_cancelling_leaves_no_process_behind(call, work, prefix):
    """Nor one that has left its process group."""
    marker = work / "pid"
    inner = f'{prefix}bash -c \'trap "" TERM; echo $$ > "{marker}"; while :; do sleep 0.1; done\''
    task = asyncio.create_task(call(command=f"{inner} & wait; sleep 60"))
    await wait_until(lambda: is_written(marker), timeout=20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await wait_until(lambda: not is_running(marker), timeout=20)


async def test_the_agents_own_keys_are_hidden(call, monkeypatch):
    """A command has no use for the keys of the model; other names can be hidden by globs."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hunter2")
    monkeypatch.setenv("MY_TOKEN", "hunter3")
    result = await call(command="env")
    assert "hunter2" not in result.output
    assert "hunter3" in result.output
    result = await call({"hide_env": ["*_TOKEN"]}, command="env")
    assert "hunter3" not in result.output


@pytest.mark.parametrize("name", ["AMPLIFIER_TOKEN", "AMPLIFIER_TOKEN_FILE", "AMPLIFIER_STORE"])
async def test_no_option_shows_a_command_what_would_let_it_decide(call, monkeypatch, name):
    """With a person's token an agent could answer what people are asked about it."""
    monkeypatch.setenv(name, "hunter2")
    result = await call({"hide_env": []}, command="env")
    assert "hunter2" not in result.output


@pytest.mark.parametrize("name", ["PGPASSWORD", "PGPASSFILE"])
async def test_what_opens_the_database_of_answers_is_not_shown(call, monkeypatch, name):
    """Whoever has the credentials of the database can decide."""
    monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("AMPLIFIER_STORE", "postgresql://db.test/answers")
    result = await call({"hide_env": []}, command="env")
    assert "hunter2" not in result.output


async def test_a_working_directory_that_is_gone_is_said(call, work):
    """What cannot start says why."""
    work.rmdir()
    result = await call(command="true")
    assert "is not a directory" in result.output


async def test_options_are_checked_at_the_mount(coordinator):
    """One line with owner, key and value."""
    with pytest.raises(ModuleLoadError, match="tool-bash: option 'timeout' cannot be -3"):
        await bash.mount(coordinator, {"timeout": -3})


async def test_bash_explains_itself(coordinator):
    """The description names the limits that hold."""
    unmount = await bash.mount(coordinator, {"timeout": 7, "max_timeout": 9})
    tool = coordinator.tools["Bash"]
    assert "7 seconds" in tool.description
    assert "at most 9" in tool.description
    assert tool.input_schema["required"] == ["command"]
    await unmount()
    assert coordinator.tools == {}


@pytest.mark.parametrize("form", ["relative", "absolute"])
async def test_commands_may_run_elsewhere(call, work, form):
    """`working_dir`, relative to the session's."""
    (work / "sub").mkdir()
    directory = "sub" if form == "relative" else str(work / "sub")
    result = await call({"working_dir": directory}, command="pwd -P")
    assert result.output == str((work / "sub").resolve())

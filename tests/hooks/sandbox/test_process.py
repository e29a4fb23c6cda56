"""Running a command and leaving nothing of it behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
import uuid
from pathlib import Path

import pytest

from amplifier_hooks.sandbox import process_group
from amplifier_hooks.sandbox.process import run_command
from tests.support.waiting import wait_until


@pytest.fixture
def short_grace(monkeypatch):
    """For processes that ignore TERM and are killed."""
    monkeypatch.setattr(process_group, "GRACE", 0.2)


def running(marker: Path) -> bool:
    """Whether the process whose id is in the file still runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{int(marker.read_text())}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def appears(marker: Path) -> None:
    while not (marker.exists() and marker.read_text().strip()):
        await asyncio.sleep(0.01)


async def vanishes(marker: Path) -> bool:
    """KILL is asynchronous: give the kernel a moment."""
    for _ in range(5000):
        if not running(marker):
            return True
        await asyncio.sleep(0.01)
    return False


async def test_a_string_runs_in_bash_and_the_streams_stay_apart():
    """A string may use everything that bash offers."""
    outcome = await run_command('echo "$BASH_VERSION"; echo oops >&2; exit 3')
    assert outcome.returncode == 3
    assert outcome.stdout.strip()
    assert outcome.stderr == "oops\n"
    assert not outcome.timed_out
    assert not outcome.truncated


async def test_a_sequence_runs_without_a_shell():
    """Nothing in an argument is expanded."""
    outcome = await run_command(["printf", "%s", "$HOME; $(id)"])
    assert outcome.stdout == "$HOME; $(id)"


async def test_a_missing_program_is_an_outcome():
    """It has the code that a shell would give, and a sentence instead of output."""
    outcome = await run_command(["no-such-program-anywhere"])
    assert outcome.returncode == 127
    assert "'no-such-program-anywhere'" in outcome.stderr


@pytest.mark.parametrize(
    ("command", "cwd", "code", "word"),
    [
        ("echo", "/no/such/place", 127, "not a directory"),
        ("echo a\0b", None, 126, "null byte"),
        (["/etc"], None, 126, "Permission"),
    ],
)
async def test_what_cannot_start_says_why(command, cwd, code, word):
    """A command that cannot start is an outcome, not an exception."""
    outcome = await run_command(command, cwd=cwd)
    assert outcome.returncode == code
    assert word in outcome.stderr


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
async def test_a_time_limit_is_positive(timeout):
    """A limit that cannot be kept is refused."""
    with pytest.raises(ValueError, match="timeout must be positive"):
        await run_command("true", timeout=timeout)


async def test_an_empty_sequence_is_refused():
    """The first item names the program."""
    with pytest.raises(ValueError, match="empty sequence"):
        await run_command([])


async def test_stdin_is_empty_unless_given():
    """A command that reads stdin does not wait for a person."""
    assert (await run_command("cat", timeout=10)).stdout == ""
    assert (await run_command("cat", stdin="grüße\n")).stdout == "grüße\n"
    assert (await run_command("cat", stdin=b"\xff")).stdout == "\ufffd"


async def test_a_command_may_leave_its_input_unread():
    """Ten megabytes that nobody reads neither block nor fail the command."""
    outcome = await run_command("exit 0", stdin=b"x" * 10_000_000, timeout=10)
    assert outcome.returncode == 0


async def test_env_replaces_the_environment():
    """As in subprocess, env is the whole environment."""
    outcome = await run_command(["/usr/bin/env"], env={"ONLY": "this"})
    names = {line.partition("=")[0] for line in outcome.stdout.splitlines()}
    assert names == {"ONLY", "AMPLIFIER_COMMAND_ID"}


async def test_cwd_is_where_the_command_runs(tmp_path):
    """Relative paths in the command start there."""
    outcome = await run_command("pwd -P", cwd=tmp_path)
    assert outcome.stdout.strip() == str(tmp_path.resolve())


async def test_output_over_the_limit_keeps_its_two_ends():
    """A long output has its beginning, its end, and a count of what is missing."""
    outcome = await run_command("echo first; seq 100000; echo last", output_limit=100)
    assert outcome.truncated
    assert outcome.stdout.startswith("first\n")
    assert outcome.stdout.endswith("last\n")
    assert "bytes left out" in outcome.stdout
    assert len(outcome.stdout) < 200


async def test_a_hundred_megabytes_pass_by_while_the_loop_lives():
    """Other tasks keep running, whatever a command prints."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.005)
            longest = max(longest, time.thread_time() - before)

    watcher = asyncio.create_task(watch())
    outcome = await run_command("head -c 100000000 /dev/zero", output_limit=1000)
    watcher.cancel()
    assert outcome.returncode == 0
    assert outcome.truncated
    assert len(outcome.stdout) < 1100
    assert longest < 1.0


async def test_a_command_that_never_ends_is_ended():
    """After its time limit it is stopped, and its output so far is kept."""
    outcome = await run_command("yes", timeout=1.5)
    assert outcome.timed_out
    assert outcome.returncode < 0
    assert outcome.stdout.startswith("y\n")
    assert outcome.duration_ms < 20_000


async def test_what_was_printed_before_the_limit_is_kept():
    """A timed out command still says what it said."""
    outcome = await run_command("echo before; sleep 60", timeout=2)
    assert outcome.timed_out
    assert outcome.stdout == "before\n"


@pytest.mark.usefixtures("short_grace")
async def test_ignoring_term_does_not_help(tmp_path):
    """What does not end on TERM is killed, children included."""
    marker = tmp_path / "pid"
    script = (
        f"trap '' TERM; (trap '' TERM; echo $BASHPID > {marker}; while :; do sleep 1; done) & wait"
    )
    outcome = await run_command(script, timeout=2)
    assert outcome.timed_out
    assert outcome.returncode == -9
    assert await vanishes(marker)


@pytest.mark.parametrize("deaf", ["", "trap '' TERM; "])
@pytest.mark.usefixtures("short_grace")
async def test_a_background_child_ends_with_its_command(tmp_path, deaf):
    """A child that keeps the output open neither delays the command nor outlives it."""
    marker = tmp_path / "pid"
    outcome = await run_command(f"({deaf}sleep 60) & echo $! > {marker}; echo done", timeout=30)
    assert outcome.stdout == "done\n"
    assert outcome.duration_ms < 20_000
    assert await vanishes(marker)


@pytest.mark.parametrize("wrapper", ["", "setsid "])
async def test_timeout_reaches_every_descendant(tmp_path, wrapper):
    """Even a child that left the process group ends with its command."""
    marker = tmp_path / "pid"
    script = f"{wrapper}bash -c 'echo $$ > {marker}; exec sleep 60' & sleep 60"
    outcome = await run_command(script, timeout=2)
    assert outcome.timed_out
    assert await vanishes(marker)


@pytest.mark.parametrize("wrapper", ["", "setsid "])
async def test_cancelling_leaves_no_process_behind(tmp_path, wrapper):
    """A cancelled command ends with all its descendants."""
    marker = tmp_path / "pid"
    script = f"{wrapper}bash -c 'echo $$ > {marker}; exec sleep 60' & sleep 60"
    task = asyncio.create_task(run_command(script, timeout=60))
    await appears(marker)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await vanishes(marker)


async def test_cancelling_twice_still_kills(tmp_path):
    """A second cancellation skips the grace, not the KILL."""
    marker = tmp_path / "pid"
    script = f"trap '' TERM; echo $$ > {marker}; while :; do sleep 0.1; done"
    task = asyncio.create_task(run_command(script, timeout=60))
    await appears(marker)
    task.cancel()
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await vanishes(marker)


def with_in_environment(mark: str) -> list[str]:
    """Processes that were started with the mark and still run."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.append(entry.name)
    return found


async def test_no_moment_is_wrong_for_a_cancellation():
    """Even while the command is only being started."""
    mark = uuid.uuid4().hex
    script = "setsid sleep 60 & (sleep 60 & sleep 60 &); sleep 60"
    for moment in range(40):
        task = asyncio.create_task(run_command(script, env={**os.environ, "MARK": mark}))
        for _ in range(moment % 20):
            await asyncio.sleep(0 if moment < 20 else 0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await wait_until(lambda: with_in_environment(mark) == [])


@pytest.mark.usefixtures("short_grace")
async def test_an_inner_runner_that_dies_leaves_nothing_either(tmp_path):
    """Ending an agent also ends what its own commands started, in groups of their own."""
    marker = tmp_path / "pid"
    inner = (
        "import asyncio, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "from amplifier_hooks.sandbox.process import run_command\n"
        f"asyncio.run(run_command('echo $$ > {marker}; exec sleep 60'))"
    )
    task = asyncio.create_task(run_command([sys.executable, "-c", inner], timeout=60))
    await appears(marker)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await vanishes(marker)


async def test_no_descriptor_stays_open():
    """Whatever way a command ends, its pipes are closed."""
    await run_command("true")
    before = open_descriptors()
    for command in ["true", "sleep 60 &", "exit 1"]:
        await run_command(command, stdin="x" * 100_000)
    await run_command(["no-such-program-anywhere"], stdin="x")
    await run_command("sleep 60", timeout=0.05, stdin="x")
    await wait_until(lambda: open_descriptors() <= before)


async def test_many_commands_run_at_once():
    """Fifty commands at once do not mix their output."""
    outcomes = await asyncio.gather(*(run_command(["echo", str(n)]) for n in range(50)))
    assert [outcome.stdout for outcome in outcomes] == [f"{n}\n" for n in range(50)]


@pytest.mark.parametrize("contained", [True, False])
async def test_output_is_told_before_the_command_ends(tmp_path, contained):
    """In a cell and as a child: the command waits for what its first words cause."""
    told = []

    def take(stream, text):
        told.append((stream, text))
        (tmp_path / "go").touch()

    waiting = f"echo early; until [ -e {tmp_path}/go ]; do sleep 0.01; done; echo late >&2"
    outcome = await run_command(waiting, timeout=20, contained=contained, on_output=take)
    assert outcome.returncode == 0
    assert told == [("stdout", "early\n"), ("stderr", "late\n")]

"""Running a command and leaving nothing of it behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.sandbox import plain_process, process, wrappers
from amplifier_hooks.sandbox.landlock import query_abi
from amplifier_hooks.sandbox.process import build_order, keep_sealed, run_command
from amplifier_hooks.sandbox.wall import Wall
from tests.support.processes import is_running, is_written
from tests.support.waiting import wait_until


@pytest.fixture
def wall(tmp_path: Path) -> Wall:
    return Wall((tmp_path,), (), (), tmp_path / "private")


def test_without_a_wall_nothing_is_added() -> None:
    """Not even the temporary folder."""
    with build_order(["true"], {"A": "b"}, "/", None) as (order, descriptors):
        assert (order.env, order.profile, descriptors) == ({"A": "b"}, None, [])


@pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")
def test_landlock_gets_a_rule_set_and_a_filter(wall: Wall) -> None:
    """The descriptor is closed when the order is on its way; root keeps few of its powers."""
    with build_order(["true"], {}, "/", wall) as (order, descriptors):
        assert order.env == {"TMPDIR": str(wall.temporary)}
        assert order.landlock
        assert order.filter
        assert not order.capabilities >> 21 & 1  # CAP_SYS_ADMIN
        os.fstat(descriptors[0])
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(descriptors[0])


def test_bubblewrap_gets_its_filter_by_descriptor(
    wall: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its command line, the wall's; the filter would stop bubblewrap itself."""
    monkeypatch.setattr(wrappers, "find_bubblewrap", lambda: "/usr/bin/bwrap")
    with build_order(["echo", "x"], {}, "/", replace(wall, kind="bubblewrap")) as (order, more):
        assert order.argv[0] == "/usr/bin/bwrap"
        assert order.argv[-3:] == ["--", "echo", "x"]
        assert not order.landlock
        assert not order.filter
        assert len(more) == 1
    monkeypatch.setattr(process, "find_architecture", lambda: None)
    with build_order(["true"], {}, "/", replace(wall, kind="bubblewrap")) as (order, more):
        assert (more, order.inherited, "--seccomp" in order.argv) == ([], None, False)


def test_a_wall_of_another_system_is_an_error(wall: Wall) -> None:
    """Rather than no wall."""
    with (
        pytest.raises(ValueError, match="seatbelt"),
        build_order(["true"], {}, "/", replace(wall, kind="seatbelt")),
    ):
        pass


@pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")
def test_what_gives_up_something_else_has_another_profile(wall: Wall) -> None:
    """A cell that has given up the network cannot get it back."""

    def number(wall: Wall) -> int | None:
        with build_order(["true"], {}, "/", wall) as (order, _):
            return order.profile

    assert number(wall) == number(replace(wall, writable=()))
    others = [replace(wall, network="deny"), replace(wall, unix_sockets=True)]
    assert len({number(one) for one in (wall, *others)}) == 3


def make_wall(root: Path, *granted: Path) -> Wall:
    hooks = root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    return Wall((root,), (), (hooks,), root, granted=granted)


def test_what_changed_at_a_sealed_place_is_put_back_and_told(tmp_path: Path) -> None:
    """One sentence for the agent, with the way to ask for it."""
    wall = make_wall(tmp_path.resolve())
    with keep_sealed(wall) as notes:
        (wall.sealed[0] / "pre-commit").write_text("x")
        (tmp_path / "other").write_text("x")
    assert list(wall.sealed[0].iterdir()) == []
    assert (tmp_path / "other").exists()
    assert len(notes) == 1
    assert "needs.write" in notes[0]


def test_what_a_person_granted_may_change(tmp_path: Path) -> None:
    """For this one command."""
    root = tmp_path.resolve()
    wall = make_wall(root, root / ".git" / "hooks")
    with keep_sealed(wall) as notes:
        (wall.sealed[0] / "pre-commit").write_text("x")
    assert (wall.sealed[0] / "pre-commit").exists()
    assert notes == []


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="cells are a matter of Linux")

# It changes its number all the time: each process starts the next one and ends.
MOVING = """
import os, sys, time
open(sys.argv[1], "w").write("x")
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.002)
    open(sys.argv[2], "w").write(str(os.getpid()))
"""


@pytest.fixture(params=["walled", "plain"])
def how(request, tmp_path, monkeypatch):
    """The two kinds of cells, and a short time between TERM and KILL."""
    monkeypatch.setattr(plain_process, "GRACE", 0.2)
    if request.param == "plain":
        return {"contained": True}
    if query_abi() < 1:
        pytest.skip("THIS KERNEL HAS NO LANDLOCK")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    return {"wall": Wall((tmp_path.resolve(),), (), (), temporary.resolve())}


def start_daemon(marker: Path) -> str:
    """A daemon as daemons are: twice forked, in a session of its own, without our environment."""
    inner = f"env -i bash -c 'trap \"\" TERM HUP; echo $$ > {marker}; while :; do sleep 1; done'"
    return f"(setsid {inner} > /dev/null 2>&1 < /dev/null &)"


@needs_linux
async def test_a_daemon_ends_with_the_call_that_started_it(tmp_path, how):
    """Also after an orderly end, in another session and without a mark in its environment."""
    marker = tmp_path / "pid"
    wait = f"while ! [ -s {marker} ]; do sleep 0.01; done"
    outcome = await run_command(f"{start_daemon(marker)}; {wait}; echo done", **how)
    assert outcome.stdout == "done\n"
    assert outcome.returncode == 0
    assert is_written(marker)
    assert not is_running(marker)


@needs_linux
@pytest.mark.parametrize("ending", ["time", "cancellation"])
async def test_a_daemon_ends_with_a_call_that_is_ended(tmp_path, how, ending):
    """By its time limit, or by the person."""
    marker = tmp_path / "pid"
    limit = 1.0 if ending == "time" else 60
    call = asyncio.create_task(
        run_command(f"{start_daemon(marker)}; sleep 60", timeout=limit, **how)
    )
    await wait_until(lambda: is_written(marker), timeout=30)
    if ending == "cancellation":
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    else:
        assert (await call).timed_out
    assert not is_running(marker)


@needs_linux
async def test_what_moves_from_process_to_process_is_caught(tmp_path, how):
    """Killing one process after another would always come too late."""
    started, trace = tmp_path / "started", tmp_path / "trace"
    command = [sys.executable, "-c", MOVING, str(started), str(trace)]
    await run_command(command, timeout=30, **how)
    assert started.exists()
    trace.unlink(missing_ok=True)
    await asyncio.sleep(0.1)
    assert not trace.exists()


@needs_linux
async def test_no_descriptor_of_ours_reaches_a_command(how):
    """Three streams, and nothing else."""
    script = "for one in /proc/$$/fd/*; do readlink $one > /dev/null && echo ${one##*/}; done; true"
    outcome = await run_command(script, **how)
    assert set(outcome.stdout.split()) <= {"0", "1", "2", "255"}


@needs_linux
async def test_orders_of_any_length_arrive(tmp_path, how):
    """A long command does not fit into one message."""
    script = "true " + "x" * 100_000 + "; echo done"
    assert (await run_command(script, **how)).stdout == "done\n"
    env = {**os.environ, "LONG": "y" * 100_000}
    assert (await run_command("echo ${#LONG}", env=env, **how)).stdout == "100000\n"


@needs_linux
async def test_a_program_that_cannot_run_is_an_outcome(tmp_path, how):
    """As without a cell: the code of a shell, and a sentence."""
    missing = await run_command(["no-such-program-anywhere"], **how)
    assert (missing.returncode, "no such program" in missing.stderr) == (127, True)
    assert (await run_command(["/etc"], **how)).returncode == 126
    assert (await run_command("echo a\0b", **how)).returncode == 126
    elsewhere = await run_command("true", cwd=tmp_path / "no", **how)
    assert "is not a directory" in elsewhere.stderr


@needs_linux
async def test_calls_at_once_do_not_mix(how):
    """Each has a cell to itself."""
    outcomes = await asyncio.gather(*(run_command(["echo", str(n)], **how) for n in range(12)))
    assert [outcome.stdout for outcome in outcomes] == [f"{n}\n" for n in range(12)]


@needs_linux
async def test_a_supervisor_that_is_killed_takes_its_command_along(tmp_path, how):
    """The call fails with a sentence, nothing goes on, and the next call works."""
    marker, parent = tmp_path / "pid", tmp_path / "parent"
    script = f"echo $PPID > {parent}; {start_daemon(marker)}; sleep 60"
    call = asyncio.create_task(run_command(script, **how))
    await wait_until(lambda: is_written(marker) and is_written(parent), timeout=30)
    os.kill(int(parent.read_text()), signal.SIGKILL)
    outcome = await call
    assert outcome.returncode == 126
    assert "supervised the command was ended" in outcome.stderr
    await wait_until(lambda: not is_running(marker), timeout=20)
    assert (await run_command("echo fine", **how)).stdout == "fine\n"


@needs_linux
async def test_a_supervisor_that_is_stopped_is_no_way_out(tmp_path, how):
    """The launcher ends what its supervisor cannot end any more."""
    marker, parent = tmp_path / "pid", tmp_path / "parent"
    script = f"echo $PPID > {parent}; {start_daemon(marker)}; sleep 60"
    call = asyncio.create_task(run_command(script, **how))
    await wait_until(lambda: is_written(marker) and is_written(parent), timeout=30)
    os.kill(int(parent.read_text()), signal.SIGSTOP)
    assert (await call).returncode == 126
    await wait_until(lambda: not is_running(marker), timeout=20)


@needs_linux
async def test_nothing_outlives_the_agent(tmp_path):
    """Killed in the middle of a call, it leaves no process of it behind."""
    marker = tmp_path / "pid"
    program = (
        "import asyncio\nfrom amplifier_hooks.sandbox.process import run_command\n"
        f"asyncio.run(run_command({start_daemon(marker) + '; sleep 60'!r}, contained=True))"
    )
    agent = subprocess.Popen([sys.executable, "-c", program])
    await wait_until(lambda: is_written(marker), timeout=30)
    agent.kill()
    agent.wait()
    await wait_until(lambda: not is_running(marker), timeout=20)


@pytest.fixture
def short_grace(monkeypatch):
    """For processes that ignore TERM and are killed."""
    monkeypatch.setattr(plain_process, "GRACE", 0.2)


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

"""Commands in cells: no descendant outlives the call, and what fails is said."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.sandbox import process_group
from amplifier_hooks.sandbox.linux.landlock import query_abi
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall
from tests.support.processes import is_running, is_written
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cells are a matter of Linux")

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
    monkeypatch.setattr(process_group, "GRACE", 0.2)
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


async def test_a_daemon_ends_with_the_call_that_started_it(tmp_path, how):
    """Also after an orderly end, in another session and without a mark in its environment."""
    marker = tmp_path / "pid"
    wait = f"while ! [ -s {marker} ]; do sleep 0.01; done"
    outcome = await run_command(f"{start_daemon(marker)}; {wait}; echo done", **how)
    assert outcome.stdout == "done\n"
    assert outcome.returncode == 0
    assert is_written(marker)
    assert not is_running(marker)


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


async def test_what_moves_from_process_to_process_is_caught(tmp_path, how):
    """Killing one process after another would always come too late."""
    started, trace = tmp_path / "started", tmp_path / "trace"
    command = [sys.executable, "-c", MOVING, str(started), str(trace)]
    await run_command(command, timeout=30, **how)
    assert started.exists()
    trace.unlink(missing_ok=True)
    await asyncio.sleep(0.1)
    assert not trace.exists()


async def test_no_descriptor_of_ours_reaches_a_command(how):
    """Three streams, and nothing else."""
    script = "for one in /proc/$$/fd/*; do readlink $one > /dev/null && echo ${one##*/}; done; true"
    outcome = await run_command(script, **how)
    assert set(outcome.stdout.split()) <= {"0", "1", "2", "255"}


async def test_orders_of_any_length_arrive(tmp_path, how):
    """A long command does not fit into one message."""
    script = "true " + "x" * 100_000 + "; echo done"
    assert (await run_command(script, **how)).stdout == "done\n"
    env = {**os.environ, "LONG": "y" * 100_000}
    assert (await run_command("echo ${#LONG}", env=env, **how)).stdout == "100000\n"


async def test_a_program_that_cannot_run_is_an_outcome(tmp_path, how):
    """As without a cell: the code of a shell, and a sentence."""
    missing = await run_command(["no-such-program-anywhere"], **how)
    assert (missing.returncode, "no such program" in missing.stderr) == (127, True)
    assert (await run_command(["/etc"], **how)).returncode == 126
    assert (await run_command("echo a\0b", **how)).returncode == 126
    elsewhere = await run_command("true", cwd=tmp_path / "no", **how)
    assert "is not a directory" in elsewhere.stderr


async def test_calls_at_once_do_not_mix(how):
    """Each has a cell to itself."""
    outcomes = await asyncio.gather(*(run_command(["echo", str(n)], **how) for n in range(12)))
    assert [outcome.stdout for outcome in outcomes] == [f"{n}\n" for n in range(12)]


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


async def test_a_supervisor_that_is_stopped_is_no_way_out(tmp_path, how):
    """The launcher ends what its supervisor cannot end any more."""
    marker, parent = tmp_path / "pid", tmp_path / "parent"
    script = f"echo $PPID > {parent}; {start_daemon(marker)}; sleep 60"
    call = asyncio.create_task(run_command(script, **how))
    await wait_until(lambda: is_written(marker) and is_written(parent), timeout=30)
    os.kill(int(parent.read_text()), signal.SIGSTOP)
    assert (await call).returncode == 126
    await wait_until(lambda: not is_running(marker), timeout=20)


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

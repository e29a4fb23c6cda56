"""A backtest in a process of its own: it goes on where it was, and its hooks can do no harm."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path

import pytest

from amplifier_core.testing import wait_for
from amplifier_hooks.agent.session.inspection.selection import select_trails
from amplifier_hooks.insight.backtest import PolicyError, PolicySource, load_policy
from amplifier_hooks.insight.backtest.process.job import Candidate, Job
from amplifier_hooks.insight.backtest.process.launch import Launch
from amplifier_hooks.insight.backtest.process.state import StateFile
from amplifier_hooks.sandbox.protection import examine_machine
from tests.hooks.insight.backtest.recorder import Recorder

HARMFUL = """
import socket
from pathlib import Path

print("this must not disturb the pipe")

async def on_tool_pre(event, data):
    number = data["tool_input"]["n"]
    if number == 1:
        Path({target!r}).write_text("harm")
    if number == 2:
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    if number == 3:
        return "nonsense"
"""


def make_job(recorder: Recorder, hook: Path) -> Job:
    """All recorded sessions, before one hook file."""
    policy = load_policy(PolicySource(hooks=(str(hook),), only=True), recorder.folder)
    trails = tuple(select_trails([str(recorder.trails)]))
    return Job(recorder.folder, trails, Candidate.of(policy))


async def test_hooks_in_a_backtest_write_nothing_and_reach_nobody(tmp_path: Path) -> None:
    """What they try fails, and that is what is reported; then another run goes on from there."""
    recorder = Recorder(tmp_path)
    await recorder.record([1, 2, 3])
    await recorder.record([1])
    target, hook = tmp_path / "harm.txt", tmp_path / "harmful.py"
    hook.write_text(HARMFUL.format(target=str(target)))
    job = make_job(recorder, hook)
    state = StateFile(tmp_path / "state.json", job.digest)
    read: list[int] = []
    launch = Launch(job, state, read.append)
    found = await launch.run()
    total = found.add_up()
    assert found.is_complete
    assert read[-1] == sum(path.stat().st_size for path in recorder.trails.rglob("*.jsonl"))
    if examine_machine().kind is not None:
        assert not target.exists()
        assert total.counts == {"error": 4}
        assert "PermissionError" in total.examples["error"][0]["error"]
    assert total.examples["error"][-1]["at"].startswith("harmful.py:")
    again = Launch(job, StateFile(tmp_path / "state.json", job.digest))
    assert again.findings.remembered == 2
    assert (await again.run()).add_up() == total


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for the process in /proc")
async def test_a_run_that_is_stopped_leaves_no_process_and_keeps_what_it_found(
    tmp_path: Path,
) -> None:
    """The worker ends with it, whatever its hooks are waiting for."""
    recorder = Recorder(tmp_path)
    await recorder.record([1])
    hook = tmp_path / "endless.py"
    hook.write_text(
        "import asyncio\n\nasync def on_tool_pre(event, data):\n    await asyncio.sleep(3600)\n"
    )
    job = make_job(recorder, hook)
    launch = Launch(job, StateFile(tmp_path / "state.json", job.digest))
    running = asyncio.create_task(launch.run())
    assert await wait_for(lambda: bool(_list_processes_in(tmp_path)), timeout=30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert _list_processes_in(tmp_path) == []
    assert not launch.findings.is_complete
    assert launch.findings.add_up().sessions == 0
    assert not (tmp_path / "state.json").exists()


def _list_processes_in(folder: Path) -> list[str]:
    """The processes whose current folder this is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder:
                found.append(process.name)
    return found


FORGER = """
import os

async def on_tool_pre(event, data):
    for number in range(3, 64):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("pipe:"):
                os.write(number, b"nonsense\\n")
        except OSError:
            pass
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="it needs /proc to find the pipe")
async def test_a_hook_that_writes_into_the_pipe_is_noticed(tmp_path: Path) -> None:
    """Nobody can say which results it has replaced."""
    recorder = Recorder(tmp_path)
    await recorder.record([1])
    hook = tmp_path / "forger.py"
    hook.write_text(FORGER)
    job = make_job(recorder, hook)
    launch = Launch(job, StateFile(tmp_path / "state.json", job.digest))
    with pytest.raises(PolicyError, match="has written into the pipe"):
        await launch.run()

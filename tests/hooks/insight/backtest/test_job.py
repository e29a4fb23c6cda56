"""What a backtest is to do, in a process of its own, and what is kept of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import wait_for
from amplifier_hooks.agent.session.inspection.trails import select_trails
from amplifier_hooks.insight.backtest import PolicyError, PolicySource, Tally, Window, load_policy
from amplifier_hooks.insight.backtest.job import (
    Candidate,
    Job,
    Launch,
    Reporter,
    StateFile,
    is_foreign_file,
    run_job,
)
from amplifier_hooks.sandbox.protection import examine_machine
from tests.hooks.insight.backtest.recorder import Recorder, row


def test_a_job_is_told_to_another_process(tmp_path: Path) -> None:
    """With and without a baseline."""
    recorder = Recorder(tmp_path)
    policy = Candidate.of(recorder.load())
    for baseline in (None, policy):
        job = Job(tmp_path, (tmp_path / "a",), policy, baseline, Window("2026", "2027"), 5)
        assert Job.from_dict(json.loads(json.dumps(job.to_dict(tmp_path)))) == job
        assert replace(job, trails=()).digest == job.digest
        assert replace(job, examples=6).digest != job.digest


def test_a_policy_that_changed_on_the_way_is_refused(tmp_path: Path) -> None:
    """What runs is what a person has trusted."""
    recorder = Recorder(tmp_path)
    candidate = Candidate.of(recorder.load())
    assert candidate.load(tmp_path, tmp_path).digest == candidate.digest
    recorder.save(row("other"))
    with pytest.raises(PolicyError, match="changed meanwhile"):
        candidate.load(tmp_path, tmp_path)


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A trail of one segment."""
    path = tmp_path / "trail"
    path.mkdir()
    (path / "00000000.jsonl").write_text("{}\n")
    return path


def test_a_finished_trail_is_remembered(tmp_path: Path, trail: Path) -> None:
    """With what was found in it, for nobody else to read."""
    state = StateFile(tmp_path / "state.json", "digest")
    state.keep(trail, Tally(events=5), "spent")
    state.write()
    later = StateFile(tmp_path / "state.json", "digest")
    found = later.find(trail)
    assert found is not None
    assert (found.events, later.spent) == (5, "spent")
    assert (tmp_path / "state.json").stat().st_mode & 0o077 == 0


def test_a_changed_trail_or_policy_is_noticed(tmp_path: Path, trail: Path) -> None:
    """Old results would be wrong ones."""
    path = tmp_path / "state.json"
    StateFile(path, "digest").keep(trail, Tally())
    assert StateFile(path, "other").find(trail) is None
    (trail / "00000000.jsonl").write_text("{}\n{}\n")
    assert StateFile(path, "digest").find(trail) is None
    path.write_text("not JSON")
    assert StateFile(path, "digest").find(trail) is None
    path.write_text('{"version": 99}')
    assert StateFile(path, "digest").find(trail) is None


def test_a_file_that_nobody_named_goes_when_all_is_done(tmp_path: Path, trail: Path) -> None:
    """One that was named stays."""
    for temporary in (True, False):
        state = StateFile(tmp_path / "state.json", "digest", temporary=temporary)
        state.keep(trail, Tally())
        state.finish()
        assert state.path.exists() is not temporary


@pytest.mark.parametrize("known", [5, {}, {"stamp": 1}, {"tally": {}}, {"tally": {"x": 1}}])
def test_a_state_that_somebody_edited_is_not_relied_on(
    tmp_path: Path, trail: Path, known: Any
) -> None:
    """The trail is looked at again."""
    path = tmp_path / "state.json"
    StateFile(path, "digest").keep(trail, Tally())
    values = json.loads(path.read_text())
    kept = values["trails"][str(trail)]
    values["trails"][str(trail)] = {**kept, **known} if isinstance(known, dict) else known
    if known == {}:
        values["trails"] = []
    path.write_text(json.dumps(values))
    assert StateFile(path, "digest").find(trail) is None


def test_a_file_of_somebody_else_is_told_from_a_state(tmp_path: Path, trail: Path) -> None:
    """Whoever mistypes a name must not lose a file."""
    path = tmp_path / "state.json"
    assert not is_foreign_file(path)
    StateFile(path, "digest").keep(trail, Tally())
    assert not is_foreign_file(path)
    for content in ("text", "[]", '{"version": 1}', "\0"):
        path.write_text(content)
        assert is_foreign_file(path)


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


async def test_it_tells_of_each_trail(tmp_path: Path) -> None:
    """With what the day's book of costs has, so that another run can go on."""
    recorder = Recorder(tmp_path)
    budget = {"module": "hooks-cost-control", "config": {"day": {"tokens": 1000}}}
    recorder.save(row("judge", n1="deny"), modules=[budget])
    reply: Any = ("provider:response", {"response": {}, "usage": {"input_tokens": 7}})
    for _ in range(2):
        await recorder.record([1], events=[reply])
    (tmp_path / ".amplifier" / "cost.json").unlink()
    scratch = tmp_path / "scratch"
    (scratch / "other").mkdir(parents=True)
    trails = tuple(select_trails([str(recorder.trails)]))
    policy = Candidate.of(recorder.load())
    said: list[dict[str, Any]] = []
    await run_job(Job(tmp_path, trails, policy, policy).to_dict(scratch), said.append)
    said = [one for one in said if one["kind"] == "trail"]
    assert [one["trail"] for one in said] == [str(trail) for trail in trails]
    assert [Tally.from_dict(one["tally"]).counts for one in said] == [{}, {}]
    assert '"tokens": 14' in said[1]["spent"]
    assert not (tmp_path / ".amplifier" / "cost.json").exists()


def test_progress_is_told_now_and_then() -> None:
    """And seldom with all that was found so far."""
    now = [0.0]
    said: list[dict[str, Any]] = []
    reporter = Reporter(said.append, lambda: now[0])
    for now[0] in (0.1, 0.3, 0.4, 0.6, 2.5):
        reporter.report(Path("trail"), 5, Tally())
    assert [sorted(one) for one in said] == [
        ["kind", "read", "trail"],
        ["kind", "read", "trail"],
        ["kind", "read", "tally", "trail"],
    ]


@pytest.mark.slow
async def test_a_policy_that_does_not_mount_is_an_error_with_its_reason(tmp_path: Path) -> None:
    """From the other process, in a sentence."""
    recorder = Recorder(tmp_path)
    await recorder.record([1])
    hook = tmp_path / "broken.py"
    hook.write_text("async def mount(coordinator, config):\n    raise RuntimeError('no luck')\n")
    job = make_job(recorder, hook)
    with pytest.raises(PolicyError, match="no luck"):
        await Launch(job, StateFile(tmp_path / "state.json", job.digest)).run()

"""The worker, in this process: what it says, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.session.inspection.trails import select_trails
from amplifier_hooks.insight.backtest import PolicyError, Tally
from amplifier_hooks.insight.backtest.job import Candidate, Job, Launch, StateFile
from amplifier_hooks.insight.backtest.worker import Reporter, work
from tests.hooks.insight.backtest.recorder import Recorder, row
from tests.hooks.insight.backtest.test_job import make_job


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
    await work(Job(tmp_path, trails, policy, policy).to_dict(scratch), said.append)
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
        reporter.tell(Path("trail"), 5, Tally())
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

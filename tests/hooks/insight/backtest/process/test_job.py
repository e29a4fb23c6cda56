"""Jobs: the same on both sides of a pipe, and refused when the policy has changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.insight.backtest import PolicyError, Window
from amplifier_hooks.insight.backtest.process.job import Candidate, Job
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

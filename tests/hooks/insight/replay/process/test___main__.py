"""The process that hooks run in during a replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.insight.replay import ReplayFailed, launch_replay
from tests.hooks.insight.replay.process.test_worker import record
from tests.support.project import Project


@pytest.mark.slow
async def test_a_job_that_cannot_be_done_says_why(project: Project, tmp_path: Path) -> None:
    """In the words of the other process."""
    job = await record(project, tmp_path / "trails")
    with pytest.raises(ReplayFailed, match=r"cannot be replayed: .*nowhere"):
        await launch_replay(replace(job, bundle=str(tmp_path / "nowhere.yaml")))

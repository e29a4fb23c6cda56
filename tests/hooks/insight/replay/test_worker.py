"""The process that hooks run in during a replay."""

from __future__ import annotations

import asyncio
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.insight.replay import ReplayFailed, launch_replay, worker
from amplifier_hooks.insight.replay.job import Job
from tests.support.project import Project, script


async def record(project: Project, trails: Path, **sections: Any) -> Job:
    """A job that replays a short session of the project with the bundle that it has then."""
    audit = {"enabled": True, "path": str(trails)}
    bundle = project.bundle(audit=audit, providers=script("hello"), **sections)
    async with project.session(bundle) as session:
        await session.execute("x")
    (path,) = trails.iterdir()
    (trails.parent / "scratch").mkdir()
    scratch = str(trails.parent / "scratch")
    return Job(trail=str(path), folder=str(project.folder), scratch=scratch)


async def test_a_job_tells_what_it_found(project: Project, tmp_path: Path) -> None:
    """Or why it cannot be done, in a sentence."""
    job = await record(project, tmp_path / "trails")
    told = await asyncio.to_thread(worker.do_job, job)
    assert told["found"]["totals"]["events"] > 5
    assert told["found"]["differences"] == ()
    project.write("amplifier.yaml", "nonsense: [")
    assert "amplifier.yaml" in (await asyncio.to_thread(worker.do_job, job))["failed"]


async def test_a_trail_that_cannot_be_replayed_is_told_apart(
    project: Project, tmp_path: Path
) -> None:
    """From everything that went wrong."""
    job = await record(project, tmp_path / "trails")
    (empty,) = [tmp_path / "empty.jsonl"]
    empty.write_text("")
    told = await asyncio.to_thread(worker.do_job, replace(job, trail=str(empty)))
    assert set(told) <= {"cannot", "failed"}


def test_what_hooks_print_does_not_mix_with_what_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One line of JSON, and nothing else."""

    def print_and_find(job: Job) -> dict[str, Any]:
        os.write(1, b"a hook prints\n")
        return {"found": {}}

    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(Job("t", "f").to_dict())))
    monkeypatch.setattr(worker, "do_job", print_and_find)
    before = os.dup(1)
    try:
        worker.main()
    finally:
        os.dup2(before, 1)
        os.close(before)
    assert capfd.readouterr().out == '{"found": {}}\n'


@pytest.mark.slow
async def test_a_job_that_cannot_be_done_says_why(project: Project, tmp_path: Path) -> None:
    """In the words of the other process."""
    job = await record(project, tmp_path / "trails")
    with pytest.raises(ReplayFailed, match=r"cannot be replayed: .*nowhere"):
        await launch_replay(replace(job, bundle=str(tmp_path / "nowhere.yaml")))

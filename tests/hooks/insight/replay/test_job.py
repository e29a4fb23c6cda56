"""Which trail is replayed with which bundle, in a process of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.insight.replay.job import (
    Job,
    ReplayFailed,
    digest_material,
    do_job,
    launch_replay,
)
from amplifier_hooks.sandbox.protection import examine_machine
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
    told = await asyncio.to_thread(do_job, job)
    assert told["found"]["totals"]["events"] > 5
    assert told["found"]["differences"] == ()
    project.write("amplifier.yaml", "nonsense: [")
    assert "amplifier.yaml" in (await asyncio.to_thread(do_job, job))["why"]


async def test_a_trail_that_cannot_be_replayed_is_told_apart(
    project: Project, tmp_path: Path
) -> None:
    """From everything that went wrong."""
    job = await record(project, tmp_path / "trails")
    (empty,) = [tmp_path / "empty.jsonl"]
    empty.write_text("")
    told = await asyncio.to_thread(do_job, replace(job, trail=str(empty)))
    assert told["kind"] in ("cannot", "failed")


@pytest.mark.slow
async def test_a_job_that_cannot_be_done_says_why(project: Project, tmp_path: Path) -> None:
    """In the words of the other process."""
    job = await record(project, tmp_path / "trails")
    with pytest.raises(ReplayFailed, match=r"cannot be replayed: .*nowhere"):
        await launch_replay(replace(job, bundle=str(tmp_path / "nowhere.yaml")))


def make_job(folder: Path) -> Job:
    """A job of a folder with a bundle and a hook file."""
    (folder / "own.py").write_text("async def on_tool_pre(event, data): ...\n")
    (folder / "amplifier.yaml").write_text("name: x\nhooks: [{module: ./own.py}]\n")
    return Job(trail="trail", folder=str(folder), keep_going=True)


def test_a_job_can_be_told_to_another_process(tmp_path: Path) -> None:
    """And read back."""
    job = make_job(tmp_path)
    assert Job.from_dict(job.to_dict()) == job


def test_only_what_a_person_has_trusted_is_loaded(tmp_path: Path) -> None:
    """Files that changed meanwhile are not."""
    job = make_job(tmp_path)
    trusted = replace(job, digest=digest_material(job.load()))
    assert "own.py" in trusted.load().files
    (tmp_path / "own.py").write_text("async def on_tool_pre(event, data): print(1)\n")
    with pytest.raises(ReplayFailed, match="have changed meanwhile"):
        trusted.load()


def test_another_bundle_file_can_be_named(tmp_path: Path) -> None:
    """Instead of the one of the folder."""
    other = tmp_path / "other.yaml"
    other.write_text("name: stricter\n")
    assert replace(make_job(tmp_path), bundle=str(other)).load().bundle.name == "stricter"


@pytest.mark.parametrize("defaults", [True, False])
def test_a_bundle_stands_on_what_the_recorded_one_stood_on(tmp_path: Path, defaults: bool) -> None:
    """A program may have left out the packaged one; where neither fits, the usual one is taken."""
    file = tmp_path / "alone.yaml"
    file.write_text("name: alone\nsession: {orchestrator: loop-basic, context: context-simple}\n")
    had = load_bundle(file, user=False, defaults=defaults)
    job = replace(make_job(tmp_path), bundle=str(file), recorded=had.digest)
    assert job.load().bundle.digest == had.digest
    assert replace(job, recorded="of an earlier bundle").load().bundle.mount_plan["hooks"]


WRITES = """
from pathlib import Path

async def on_prompt_submit(event, data):
    Path({path!r}).write_text("x")
"""


@pytest.mark.slow
async def test_hooks_cannot_write_in_a_replay(project: Project, tmp_path: Path) -> None:
    """One that could then fails now, and that is the difference."""
    file = project.folder / "written.txt"
    project.write("own.py", WRITES.format(path=str(file)))
    job = await record(project, tmp_path / "trails", hooks=[{"module": "./own.py"}])
    assert file.exists()
    file.unlink()
    found = await launch_replay(job)
    assert found.walled is (examine_machine().kind is not None)
    if found.walled:
        assert not file.exists()
        (difference,) = found.differences
        assert "Error" in str(difference.changes[0].now)

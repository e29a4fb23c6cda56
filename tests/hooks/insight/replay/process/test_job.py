"""Which trail is replayed with which bundle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.insight.replay.process.job import Job, ReplayFailed, digest_material


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

"""Replays behind a wall."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.insight.replay.process.launch import launch_replay
from amplifier_hooks.sandbox.protection import examine_machine
from tests.hooks.insight.replay.process.test_worker import record
from tests.support.project import Project

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

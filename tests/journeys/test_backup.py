"""hooks-backup in a real session: the agent overwrites a file, a person brings it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.guards.backup import list_backups, locate_store
from tests.hooks.cli.program import invoke
from tests.support.sessions import SessionHarness, calls


async def test_what_the_agent_overwrote_can_be_brought_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files before they are overwritten, with a restore command."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "notes.txt"
    file.write_text("worth keeping\n")
    async with SessionHarness(
        [calls("Write", file_path=str(file), content="overwritten\n"), {"text": "done"}],
        tool_modules=[{"module": "tool-filesystem"}],
        hooks=[{"module": "hooks-backup"}],
        working_dir=tmp_path,
    ) as staged:
        assert await staged.session.execute("write") == "done"
    assert file.read_text() == "overwritten\n"
    (kept,) = list_backups(locate_store(tmp_path))
    done = invoke("backups", "restore", kept.id, "--yes")
    assert done.code == 0, done.output
    assert file.read_text() == "worth keeping\n"

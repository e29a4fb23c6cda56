"""Our own MCP server before an agent that wants more than to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.mcp.server.current_bundle import EFFECTS
from amplifier_hooks.mcp.server.toolbox import Settings, Toolbox
from amplifier_hooks.mcp.server.trails import Scope
from tests.support.trust import trust_project

CONFIG = {"hooks-rate-limit": "{overall: {calls: 9, seconds: 9}}"}


def list_files(root: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in root.rglob("*")}


async def test_looking_at_hooks_leaves_nothing_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever modules of ours a bundle has: some would open a file as soon as they are there."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    project = tmp_path / "project"
    project.mkdir()
    lines = [f"  - {{module: {one}, config: {CONFIG.get(one, '{}')}}}" for one in EFFECTS]
    head = "name: all\nsession: {orchestrator: loop-basic, context: context-simple}\nhooks:\n"
    (project / "amplifier.yaml").write_text(head + "\n".join(lines))
    trust_project(project)
    async with Toolbox(Settings(project, Scope(project))) as toolbox:
        before = list_files(tmp_path)
        listed = await toolbox.call("list_hooks", {})
        call = {"tool_name": "Write", "tool_input": {"file_path": "a", "content": "b"}}
        checked = await toolbox.call("check_call", call)
        assert not listed.is_error, listed.text
        assert not checked.is_error, checked.text
    assert list_files(tmp_path) == before

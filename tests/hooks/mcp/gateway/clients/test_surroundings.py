"""Files of a project that would steer every gateway that a client starts there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from amplifier_hooks.mcp.gateway.clients.surroundings import find_steering_files


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json"])
def test_variables_in_settings_of_a_project_are_found(home: Path, name: str) -> None:
    """Claude Code sets them for what it starts."""
    path = home / "project" / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"env": {"TZ": "UTC", "XDG_DATA_HOME": "/theirs"}}))
    (found,) = find_steering_files("claude", home / "project" / "inner")
    assert found.startswith(f"{path} sets XDG_DATA_HOME")
    for text in ("{", "[]", '{"env": []}', '{"env": {"PYTHONPATH": "x"}}', "[" * 100_000):
        path.write_text(text)
        assert list(find_steering_files("claude", home / "project")) == []
    path.write_text('\ufeff{"env": {"PYTHONPATH": "x"}}')
    assert len(list(find_steering_files("claude", home / "project", by_name=True))) == 1


@pytest.mark.parametrize(
    "line", ["HOME=/theirs", " export AMPLIFIER_STORE = x", "A=1\r\nXDG_DATA_HOME: x", "LD_AUDIT="]
)
def test_variables_in_a_file_of_them_are_found(home: Path, line: str) -> None:
    """Gemini CLI reads the first one that it finds."""
    for name in (".env", ".gemini/.env"):
        path = home / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line)
        (found,) = find_steering_files("gemini", home / "project")
        assert str(path) in found
        path.write_text("# HOME=/x\nHOMEPAGE=1\nURL=HOME=2\n")
        assert list(find_steering_files("gemini", home / "project")) == []


def test_files_in_a_home_are_the_persons_own(home: Path) -> None:
    """And other clients read none of them."""
    (home / ".env").write_text("XDG_DATA_HOME=/mine")
    (home / "project").mkdir()
    (home / "project/.env").write_text("XDG_DATA_HOME=/theirs")
    assert list(find_steering_files("gemini", home)) == []
    assert list(find_steering_files("codex", home / "project")) == []


def test_a_pipe_is_not_waited_for(home: Path) -> None:
    """Some programs that keep secrets put one there."""
    (home / "project").mkdir()
    os.mkfifo(home / "project/.env")
    assert list(find_steering_files("gemini", home / "project")) == []

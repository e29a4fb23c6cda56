"""A person's home without anything in it, and a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.coding_agents.sessions.agents import make_project


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where everything of a person lies."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AMPLIFIER_STORE"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    """A trusted project without hooks."""
    return make_project(tmp_path / "project")

"""A project with rules and recorded sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.written_trails import WrittenTrail

Record = Callable[[str], WrittenTrail]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command is run in, with nothing recorded yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("AMPLIFIER_STORE", raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def record(project: Path, tmp_path: Path) -> Record:
    """Records a session of the project, where sessions are recorded."""
    root = tmp_path / "data" / "amplifier" / "audit"
    return lambda session: WrittenTrail(root, session, project)

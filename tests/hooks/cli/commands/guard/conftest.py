"""A person with an empty home, and agents that can be guarded there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_homes import empty_home


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder is the home."""
    with empty_home(monkeypatch) as path:
        yield path


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bundle that nobody has trusted; the current folder is in it."""
    folder = home / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "inner").mkdir()
    (folder / "amplifier.yaml").write_text("name: mine\n")
    monkeypatch.chdir(folder / "inner")
    return folder

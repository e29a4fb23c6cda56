"""Fixtures of the foundation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.harness import Harness
from tests.support.project import Project


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    """A session without an agent that works in a folder of its own."""
    return Harness(tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder with a bundle of its own, and nothing of this machine."""
    return Project(tmp_path)

"""What the tests of recorded sessions share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder with a bundle of its own, and nothing of this machine."""
    return Project(tmp_path)

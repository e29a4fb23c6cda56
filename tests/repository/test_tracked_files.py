"""What is in a commit: nothing of the machine on which it was made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def list_tracked() -> list[Path]:
    """The files that a clone has."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no clone")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_no_link_leads_out_of_the_repository() -> None:
    """A link to somebody's environment once was in a commit."""
    links = [path for path in list_tracked() if path.is_symlink()]
    assert [str(path) for path in links if not path.resolve().is_relative_to(ROOT)] == []


def test_no_environment_is_tracked() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in list_tracked()}
    assert names & {".venv", ".venvs", ".mypy_cache", ".hypothesis", "site", "dist"} == set()

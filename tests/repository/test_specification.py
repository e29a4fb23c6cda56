"""The specification is kept beside this repository; without it, its tests are left out cleanly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROBE = """
from tests.specification.conftest import SEEDS

BLOCKS = list(SEEDS.iterdir())


def test_the_folder_is_there():
    assert BLOCKS
"""


@pytest.mark.parametrize("there", [False, True])
def test_the_tests_that_read_it_run_only_where_it_is(tmp_path: Path, there: bool) -> None:
    """A clone of the repository alone collects nothing from that folder, and nothing fails."""
    folder = tmp_path / "clone" / "tests" / "specification"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "specification" / "conftest.py", folder)
    (folder / "test_examples.py").write_text(PROBE)
    if there:
        beside = tmp_path / "shared" / "seeds"
        beside.mkdir(parents=True)
        (beside / "page.md").write_text("a page")
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."]
    done = subprocess.run(
        [*program, "--import-mode=importlib", "-o", "pythonpath=.", "tests"],
        cwd=tmp_path / "clone",
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (0 if there else pytest.ExitCode.NO_TESTS_COLLECTED), done.stdout
    assert ("1 passed" if there else "no tests ran") in done.stdout


def test_no_text_of_it_is_in_this_repository() -> None:
    """It is not ours to ship: what we prove by it we also prove by examples of our own."""
    names = {"hooks_api_a.md", "hooks_api_b.md", "hooks_architecture.md", "hooks_events.md"}
    kept = [path for path in ROOT.glob("[!.]*/**/*.md") if path.name in names]
    assert kept == []

"""The story of the demonstration holds together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks import bundle_from_plan
from amplifier_hooks.cli.commands.demo import report
from tests.support.harness import Harness


def test_the_files_are_there_before_the_agent_starts(tmp_path: Path) -> None:
    """Notes with a key in them, and a production folder."""
    report.write_files(tmp_path / "project")
    assert (tmp_path / "project" / report.PRODUCTION).read_text() == report.BEFORE
    assert report.SECRET in (tmp_path / "project" / "notes.txt").read_text()


@pytest.mark.parametrize(("text", "code"), [(report.WITH_LINT_ERROR, 1), (report.CLEAN, 0)])
def test_one_helper_has_a_lint_error_and_the_other_none(
    tmp_path: Path, text: str, code: int
) -> None:
    """What the linter says in the story is what it says."""
    (tmp_path / "greeting.py").write_text(text)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert ("F401" in done.stdout) == bool(code)


def test_with_a_linter_the_model_is_hasty_once() -> None:
    """Without one there is nothing to correct; each reply takes its time."""
    hasty, careful = report.make_script(0.5, lint=True), report.make_script(0.5, lint=False)
    assert len(hasty) == len(careful) + 1
    assert hasty[1]["expect"] == "F401"
    assert all(reply["pause"] == 0.5 for reply in hasty)


async def test_the_key_in_the_notes_is_one_that_redaction_finds() -> None:
    """Else the story would prove nothing."""
    async with Harness().mounted("redaction") as harness:
        result = {"success": True, "output": report.NOTES, "error": None}
        seen = await harness.emit("tool:post", tool_name="Read", tool_result=result, success=True)
    assert report.SECRET not in str(seen.data)
    assert "REDACTED" in str(seen.data)


@pytest.mark.parametrize("key", [None, Path("key")])
def test_the_bundle_is_one_that_a_person_could_write(tmp_path: Path, key: Path | None) -> None:
    """It is checked as any other; it is signed where there is a key."""
    document = report.make_bundle(tmp_path, pause=0, key=key, seconds=7, lint=True)
    bundle = bundle_from_plan(document)
    assert bundle.mount_plan["hooks"][2]["config"]["approval_timeout"] == 7
    assert ("sign" in document["audit"]) == (key is not None)

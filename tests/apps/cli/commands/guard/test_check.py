"""amplifier guard check AGENT: what a person sees, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_foundation.guests.checking import check
from amplifier_foundation.guests.installing.installation import Target
from amplifier_foundation.guests.resident.asking import stop_resident
from amplifier_foundation.guests.resident.folder import choose_folder
from tests.apps.cli.program import invoke
from tests.foundation.guests.checking.guarded import BUNDLE
from tests.support.trust import trust_project

DENIED = "a denied tool call does not run"
CRASH = "a crash of the command blocks"


@pytest.fixture
def guarded(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project whose guard is checked in two lines."""
    lines = {name: check.LINES[name] for name in (DENIED, CRASH)}
    monkeypatch.setattr(check, "LINES", lines)
    (project / "amplifier.yaml").write_text(BUNDLE)
    trust_project(project)
    assert invoke("guard", "claude").code == 0
    yield project
    stop_resident(choose_folder())


def test_the_exit_code_is_0_only_if_everything_works(guarded: Path) -> None:
    """As JSON and as text: first with the guard as it is installed, then with a spoiled one."""
    done = invoke("guard", "check", "claude", "--json")
    (report,) = json.loads(done.stdout)
    assert (done.code, report["works"], report["scope"]) == (0, True, "project")
    assert [one["state"] for one in report["lines"]] == ["ok"] * 4
    assert report["milliseconds"] > 0
    spoil(guarded, "exit 2", "exit 0")
    done = invoke("guard", "check", "claude")
    assert done.code == 1
    assert str(guarded / ".claude" / "settings.local.json") in done.stdout
    assert f"ok      {DENIED}" in done.stdout
    assert f"NOT     {CRASH}" in done.stdout
    assert "THE CALL IS LET THROUGH" in done.stdout
    assert "One call takes " in done.stdout


def spoil(project: Path, old: str, new: str) -> None:
    """Change our lines in the settings."""
    path = Target("claude", "project", project).path
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_what_is_not_installed_cannot_be_checked(home: Path) -> None:
    """The error names the command that installs it."""
    done = invoke("guard", "check", "gemini")
    assert done.code == 1
    assert "amplifier guard gemini" in done.stderr


def test_only_known_agents_can_be_checked(home: Path) -> None:
    """The error lists them."""
    done = invoke("guard", "check", "clippy")
    assert done.code == 2
    assert "opencode" in done.stderr

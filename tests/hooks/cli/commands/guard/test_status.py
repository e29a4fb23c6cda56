"""amplifier guard AGENT --status: 0 only if the guard really stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.daemon import control
from tests.hooks.cli.program import invoke
from tests.support.trust import trust_project


def test_a_guard_that_stands_is_shown_with_what_it_is_made_of(project: Path) -> None:
    """File, events, bundle, and the process that judges."""
    trust_project(project)
    invoke("guard", "claude")
    done = invoke("guard", "claude", "--status")
    assert done.code == 0, done.output
    assert "✓ Claude Code is guarded" in done.stdout
    assert str(project / ".claude" / "settings.local.json") in done.stdout
    assert str(project / "amplifier.yaml") in done.stdout
    assert "starts with the next event" in done.stdout


def test_what_is_not_installed_does_not_stand(home: Path) -> None:
    """The command that would install it is named."""
    done = invoke("guard", "gemini", "--status")
    assert done.code == 1
    assert "amplifier guard gemini" in done.stdout


def test_a_bundle_that_changed_does_not_stand(project: Path) -> None:
    """Everything is denied until it is trusted again."""
    trust_project(project)
    invoke("guard", "claude")
    (project / "amplifier.yaml").write_text("name: changed\n")
    done = invoke("guard", "claude", "--status")
    assert done.code == 1
    assert "nobody has trusted what amplifier.yaml runs" in done.stdout
    (project / "amplifier.yaml").write_text("hooks: 1\n")
    assert "everything is denied: " in invoke("guard", "claude", "--status").stdout


def test_a_missing_bundle_does_not_stand(home: Path) -> None:
    """It is said once."""
    bundle = home / "b.yaml"
    bundle.write_text("name: mine\n")
    trust_project(home, bundle)
    invoke("guard", "claude", "--bundle", bundle)
    bundle.unlink()
    done = invoke("guard", "claude", "--status")
    assert done.code == 1
    assert done.stdout.count("is not there; everything is denied") == 1


@pytest.mark.parametrize(
    ("answer", "problems"),
    [
        ({"pid": 7, "sessions": 2, "http": None}, []),
        (
            {"pid": 7, "sessions": 2, "http": {"problem": "the port is taken"}},
            ["the port is taken"],
        ),
        (ValueError("odd"), ["odd"]),
    ],
)
def test_the_process_is_asked_how_it_is(
    home: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, problems: list[str]
) -> None:
    """One that does not answer properly, or cannot be reached, is a problem."""

    def read_status(folder: Path) -> Any:
        if isinstance(answer, ValueError):
            raise answer
        return answer

    invoke("guard", "claude")
    monkeypatch.setattr(control, "read_status", read_status)
    found = json.loads(invoke("guard", "claude", "--status", "--json").stdout)
    assert found["installed"][0]["resident"]["running"] is isinstance(answer, dict)
    assert found["problems"] == problems
    assert found["stands"] is (not problems)
    assert invoke("guard", "claude", "--status").code == (1 if problems else 0)

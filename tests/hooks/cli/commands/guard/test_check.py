"""amplifier guard check AGENT: what a person sees, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.self_test.check import Check
from amplifier_hooks.coding_agents.self_test.context import Finding, State
from tests.hooks.cli.program import invoke
from tests.support.trust import trust_project


@pytest.fixture
def guarded(project: Path) -> Path:
    """A project in front of which Claude Code is guarded."""
    trust_project(project)
    assert invoke("guard", "claude").code == 0
    return project


def find(monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> None:
    """Let a check find this."""

    def run(self: Check) -> Iterator[Finding]:
        self.milliseconds = 12.3
        yield from findings

    monkeypatch.setattr(Check, "run", run)


def test_a_guard_that_works_ends_with_0(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the agent cannot do, and what the person's own hooks block, is no failure."""
    find(
        monkeypatch,
        Finding("a denial", "ok", "how"),
        Finding("a rewrite", "cannot", "why"),
        Finding("a text", "yours", "reason"),
    )
    done = invoke("guard", "check", "claude")
    assert done.code == 0, done.output
    assert str(guarded / ".claude" / "settings.local.json") in done.stdout
    words = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert words == ["ok", "cannot", "yours", "ok", "cannot", "One"]
    assert "One call takes 12 ms." in done.stdout


@pytest.mark.parametrize(("state", "word"), [("broken", "NOT"), ("untried", "untried")])
def test_one_line_that_fails_ends_with_1(
    guarded: Path, monkeypatch: pytest.MonkeyPatch, state: State, word: str
) -> None:
    """However many others work."""
    find(monkeypatch, Finding("a denial", "ok", "how"), Finding("a crash", state, "let through"))
    done = invoke("guard", "check", "claude")
    assert done.code == 1
    assert f"  {word:<8}a crash" in done.stdout
    assert "let through" in done.stdout


def test_the_same_as_json(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One object for each settings file."""
    find(monkeypatch, Finding("a denial", "broken", "why"))
    done = invoke("guard", "check", "claude", "--json")
    (report,) = json.loads(done.stdout)
    assert (done.code, report["works"], report["scope"]) == (1, False, "project")
    assert report["lines"][0] == {"name": "a denial", "state": "broken", "detail": "why"}
    assert report["milliseconds"] == 12.3


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

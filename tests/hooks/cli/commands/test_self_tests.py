"""Sessions that `amplifier guard check` makes itself never count as sessions of people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_hooks.agent.session.inspection.trails import select_trails
from tests.hooks.cli.program import invoke
from tests.support.written_trails import WrittenTrail

REAL = "claude-2f1e3a4b-0000-4000-8000-000000000001"
MARKED = "claude-amplifier-check-0123456789abcdef"
OLDER = "codex-amplifier-check-fedcba9876543210"
DISGUISED = "claude-amplifier-check-00000000ffffffff"
RULES = """rules:
  - {name: no-ls, tool: Bash, command: "ls*", action: deny, reason: no listing}
"""


@pytest.fixture
def root(home: Path) -> Path:
    """One session of a person, and two that are checks: one of now, one of an older version."""
    root = home / "data/amplifier/audit"
    (home / "rules.yaml").write_text(RULES)
    for session in (REAL, MARKED, OLDER):
        with WrittenTrail(root, session, home) as trail:
            if session == MARKED:
                trail.note("self_test", {"command": "amplifier guard check"})
            if session == OLDER:
                trail.register("amplifier-check", "tool:pre")
            denied = [{"hook": "guard", "id": 1, "action": "deny", "reason": "no"}]
            trail.call("Bash", {"command": "ls"}, hooks=denied, action="deny")
    return root


def count(*command: str) -> dict[str, object]:
    """What a command prints for machines."""
    return dict(json.loads(invoke(*command).stdout))


def test_they_are_counted_nowhere(root: Path) -> None:
    """Nor are their denials."""
    report = count("report", "--all", "--format", "json")
    assert report["totals"]["sessions"] == 1  # type: ignore[index]
    assert count("hooks", "stats", "--json")["hooks"]["guard"]["calls"] == 1  # type: ignore[index]
    assert count("hooks", "stats", "--everywhere", "--json")["trails"] == 1
    tried = ("--rules", "rules.yaml", "--only", "--json")
    assert count("hooks", "backtest", *tried)["sessions"] == 1
    assert "1 session" in invoke("rules", "check", "rules.yaml").stdout
    assert [one["id"] for one in json.loads(invoke("sessions", "list", "--json").stdout)] == [REAL]
    assert REAL in invoke("audit", "show", "--json").stdout
    assert REAL in invoke("report", "--format", "json").stdout
    assert select_trails([str(root)]) == [root / REAL]


def test_they_are_shown_on_request(root: Path) -> None:
    """By an option, or by name; `audit list` marks them."""
    report = count("report", "--all", "--self-tests", "--format", "json")
    assert report["totals"]["sessions"] == 3  # type: ignore[index]
    assert count("hooks", "stats", "--self-tests", "--json")["trails"] == 3
    shown = json.loads(invoke("sessions", "list", "--self-tests", "--json").stdout)
    assert {one["id"]: one.get("self_test") for one in shown} == {
        REAL: False,
        MARKED: True,
        OLDER: True,
    }
    assert count("hooks", "stats", OLDER, "--json")["trails"] == 1
    listed = json.loads(invoke("audit", "list", "--json").stdout)
    assert {one["id"] for one in listed if one["self_test"]} == {MARKED, OLDER}
    assert "self-test" in invoke("audit", "list").stdout


def test_a_name_alone_hides_nothing(root: Path, home: Path) -> None:
    """A session that only calls itself so is one of people: it was no check of ours."""
    with WrittenTrail(root, DISGUISED, home) as trail:
        trail.call("Bash", {"command": "rm -rf /"})
    with WrittenTrail(root, "claude-1", home) as trail:
        trail.note("self_test", {"command": "amplifier guard check"})
    assert count("report", "--all", "--format", "json")["totals"]["sessions"] == 3  # type: ignore[index]

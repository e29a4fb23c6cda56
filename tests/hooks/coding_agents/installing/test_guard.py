"""A guard as a whole: put up with everything it needs, and gone without a trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.codex_trust import CodexHook
from amplifier_hooks.coding_agents.installing.guard import (
    GuardOptions,
    explain_distrust,
    install_guard,
    remove_guard,
)
from amplifier_hooks.coding_agents.installing.installation import Target
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError
from tests.support.agent_homes import install_codex, list_left


@pytest.mark.parametrize("agent", ["claude", "cursor", "opencode"])
def test_nothing_is_left_of_a_guard_that_was_removed(home: Path, agent: str) -> None:
    """No setting, no record, no file of the resident process."""
    target = Target(agent, "user", home)
    outcome = install_guard(target, GuardOptions())
    assert outcome.change.kind == "installed"
    assert set(outcome.events) == set(AGENTS[agent].list_events(version=""))
    assert "data/amplifier/guests/launch.json" in list_left(home)
    assert remove_guard(target).change.kind == "removed"
    assert list_left(home) == []


def test_the_runtime_stays_for_another_guard(home: Path) -> None:
    """Until the last one goes."""
    first, second = Target("claude", "user", home), Target("gemini", "project", home)
    install_guard(first, GuardOptions())
    install_guard(second, GuardOptions())
    remove_guard(first)
    assert "data/amplifier/guests/launch.json" in list_left(home)
    remove_guard(second)
    assert list_left(home) == []


def test_a_refused_file_leaves_nothing_behind(home: Path) -> None:
    """Not even the runtime."""
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{,}")
    with pytest.raises(SettingsError):
        install_guard(Target("claude", "user", home), GuardOptions())
    assert list_left(home) == [".claude/settings.json"]


def test_changing_from_http_to_commands_closes_the_address(home: Path) -> None:
    """Nobody calls it any more."""
    target, launch = Target("claude", "user", home), home / "data/amplifier/guests/launch.json"
    install_guard(target, GuardOptions(http=True))
    door = json.loads(launch.read_text())["http"]
    assert f"127.0.0.1:{door['port']}/claude/PreToolUse" in target.path.read_text()
    install_guard(target, GuardOptions())
    assert "http" not in json.loads(launch.read_text())
    assert door["token"] not in target.path.read_text()


def test_codex_is_told_to_trust_our_hooks(home: Path) -> None:
    """Else it skips them without a word."""
    install_codex(home)
    target = Target("codex", "user", home)
    assert install_guard(target, GuardOptions()).untrusted == ""
    assert "trusted_hash" in (home / ".codex" / "config.toml").read_text()
    remove_guard(target)
    assert list_left(home) == []


def test_without_a_codex_the_person_is_told_what_to_do(home: Path) -> None:
    """The hooks are there, but do not run."""
    outcome = install_guard(Target("codex", "user", home), GuardOptions())
    assert "There is no codex on the PATH" in outcome.untrusted
    assert "/hooks" in outcome.untrusted


@pytest.mark.parametrize("knows", [True, False])
def test_codex_reads_a_project_only_if_it_trusts_the_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    """That is for the person to say, in Codex."""
    install_codex(home)
    monkeypatch.setenv("FAKE_CODEX", "trusts-projects" if knows else "")
    outcome = install_guard(Target("codex", "project", home / "p"), GuardOptions())
    assert ("before you trust that folder" in outcome.untrusted) is not knows


@pytest.mark.parametrize(
    ("trust", "enabled", "runs"),
    [("trusted", True, True), ("trusted", False, False), ("modified", True, False)],
)
def test_a_hook_runs_only_if_it_is_trusted_and_switched_on(
    home: Path, trust: str, enabled: bool, runs: bool
) -> None:
    """Codex has a switch for each."""
    target = Target("codex", "user", home)
    target.path.parent.mkdir()
    entry = {"hooks": [{"type": "command", "command": "x # amplifier-guest"}]}
    target.path.write_text(json.dumps({"hooks": {"Stop": [entry]}}))
    key = f"{target.path}:stop:0:0"
    hook = CodexHook(key, "x # amplifier-guest", "sha256:ab", trust, enabled, target.path)
    assert (explain_distrust([hook], target) == "") is runs
    assert "Codex skips 1 of our hooks" in explain_distrust([], target)


def test_trust_that_could_not_be_removed_is_told(home: Path) -> None:
    """The guard itself is gone then."""
    install_codex(home)
    target = Target("codex", "user", home)
    install_guard(target, GuardOptions())
    (home / ".codex" / "config.toml").write_text("[broken")
    outcome = remove_guard(target)
    assert outcome.change.kind == "removed"
    assert "[hooks.state] stays there" in outcome.untrusted


def test_a_codex_that_fails_is_told(home: Path) -> None:
    """And the person trusts by hand."""
    program = home / "bin" / "codex"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    assert (
        "start codex, type /hooks"
        in install_guard(Target("codex", "user", home), GuardOptions()).untrusted
    )

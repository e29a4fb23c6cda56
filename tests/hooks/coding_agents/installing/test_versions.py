"""Which version of an agent is installed, and what is written for it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.installing import agents
from amplifier_hooks.coding_agents.installing.agents import (
    AGENTS,
    ask_version,
    explain_version,
    find_program,
)
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard
from amplifier_hooks.coding_agents.installing.installation import Target, list_ours
from amplifier_hooks.coding_agents.installing.status import read_status

NEW_EVENTS = {"DirectoryAdded", "PreModelSwitch", "PostModelSwitch"}
PINS = Path(__file__).parents[4] / "tests" / "agents" / "package.json"


def install(folder: Path, name: str, script: str) -> str:
    """A program that only knows its version."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("version", "missing"),
    [
        ("2.1.110", {*NEW_EVENTS, "UserPromptExpansion"}),
        ("2.1.197", NEW_EVENTS),
        ("2.1.219", NEW_EVENTS - {"DirectoryAdded"}),
        ("2.1.325", set()),
        ("10.0.0", set()),
    ],
)
def test_only_events_that_the_version_knows_are_written(
    home: Path, version: str, missing: set[str]
) -> None:
    """Claude Code shows a full-screen warning at every start for one that it does not know."""
    install(home / "bin", "claude", f"echo '{version} (Claude Code)'")
    target = Target("claude", "user", home / "project")
    outcome = install_guard(target, GuardOptions())
    assert outcome.version == version
    assert AGENTS["claude"].list_events().keys() - list_ours(target).keys() == missing
    status = read_status("claude", home / "project")
    assert status.problems == ()
    assert [one.problems for one in status.installed] == [()]


def test_without_a_version_only_what_every_version_knows_is_written(home: Path) -> None:
    """And that is said."""
    target = Target("claude", "user", home / "project")
    outcome = install_guard(target, GuardOptions())
    assert not set(outcome.events) & NEW_EVENTS
    assert "does not say its version" in explain_version("claude", "Claude Code", outcome.version)


def test_a_new_version_is_told_to_install_again(home: Path) -> None:
    """The events that it has learned meanwhile are not there yet."""
    install(home / "bin", "claude", "echo 2.1.197")
    target = Target("claude", "user", home / "project")
    install_guard(target, GuardOptions())
    install(home / "bin", "claude", "echo 2.1.325")
    (note,) = [one for one in read_status("claude", home / "project").notes if "again" in one]
    assert "is 2.1.325, and was 2.1.197" in note
    install_guard(target, GuardOptions())
    assert not any("again" in one for one in read_status("claude", home / "project").notes)


def test_a_version_that_nobody_has_tried_is_named(home: Path) -> None:
    """Nobody knows what it does with an answer."""
    install(home / "bin", "claude", "echo 99.0.0")
    install_guard(Target("claude", "user", home / "project"), GuardOptions())
    assert any("newer than any" in one for one in read_status("claude", home / "project").notes)


def test_a_program_in_the_folder_is_not_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a PATH that leads into the project, nor by one that is relative, nor by a link."""
    project = home / "project"
    inside = install(project / "node_modules" / ".bin", "claude", f"touch {home}/ran; echo 1.0.0")
    monkeypatch.chdir(project)
    for path in (str(Path(inside).parent), "node_modules/.bin", "", "."):
        assert find_program(("claude",), project, {"PATH": path}) is None
    (home / "bin" / "claude").symlink_to(inside)
    assert find_program(("claude",), project, {"PATH": str(home / "bin")}) is None
    read_status("claude", project)
    assert not (home / "ran").exists()


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("echo codex-cli 0.166.0", "0.166.0"),
        ("echo 'GitHub Copilot CLI 1.0.102.'", "1.0.102"),
        ("echo no version", ""),
        ("echo 2.1.325; exit 1", "2.1.325"),
        ("exit 3", ""),
    ],
)
def test_what_programs_say(home: Path, script: str, found: str) -> None:
    """Each in its own words."""
    assert ask_version(install(home / "bin", "agent", script)) == found


def test_one_that_hangs_is_given_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a deadline."""
    monkeypatch.setattr(agents, "_SECONDS", 0.3)
    started = time.monotonic()
    assert ask_version(install(home / "bin", "agent", "exec sleep 30")) == ""
    assert time.monotonic() - started < 10


def test_the_newest_version_that_was_tried_is_the_one_that_make_agents_runs() -> None:
    """Whoever renews the pins renews the tables, too."""
    pins = json.loads(PINS.read_text())
    pinned = {**pins["dependencies"], **pins["optionalDependencies"]}
    names = {
        "claude": "@anthropic-ai/claude-code-linux-x64",
        "codex": "@openai/codex-linux-x64",
        "gemini": "@google/gemini-cli",
        "copilot": "@github/copilot-linux-x64",
        "opencode": "opencode-linux-x64",
    }
    for agent, package in names.items():
        found = agents._NUMBERS.search(pinned[package])
        assert found is not None
        assert DIALECTS[agent].tried == ".".join(found.groups())

"""amplifier guard: one group, with a command for each agent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client import launch
from amplifier_hooks.coding_agents.installing import places, system
from amplifier_hooks.coding_agents.known import TITLES
from amplifier_hooks.coding_agents.self_test.check import Check
from amplifier_hooks.coding_agents.self_test.context import Finding, State
from tests.hooks.cli.program import invoke
from tests.support.agent_homes import install_codex, list_left
from tests.support.trust import trust_project


def test_a_folder_without_a_bundle_is_guarded_everywhere(home: Path) -> None:
    """In the settings of the person."""
    done = invoke("guard", "claude")
    assert done.code == 0, done.output
    assert "in every folder" in done.stdout
    assert str(home / ".claude" / "settings.json") in done.stdout


def test_a_project_with_a_bundle_is_guarded_by_itself(project: Path) -> None:
    """Also from a folder within it; --user says otherwise."""
    trust_project(project)
    done = invoke("guard", "claude")
    assert "in this project" in done.stdout
    assert (project / ".claude" / "settings.local.json").is_file()
    done = invoke("guard", "claude", "--user")
    assert "in every folder" in done.stdout


def test_project_can_be_wanted_where_there_is_no_bundle(home: Path) -> None:
    """The folder is then the project."""
    (home / "p").mkdir()
    done = invoke("guard", "gemini", "--project")
    assert done.code == 0
    assert str(home / ".gemini" / "settings.json") in done.stdout


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--status", "--remove"), "only one of"),
        (("--remove", "--every-event"), "say what to install"),
        (("--status", "--http"), "say what to install"),
        (("--status", "--managed-only"), "say what to install"),
        (("--managed-only",), "goes with --system"),
        (("--system", "--http"), "do not go with --system"),
        (("--bundle", "gone.yaml"), "does not exist"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    home: Path, options: tuple[str, ...], what: str
) -> None:
    """Before anything is changed."""
    done = invoke("guard", "claude", *options)
    assert done.code == 2
    assert what in done.stderr
    assert list_left(home) == []


def test_the_machine_is_guarded_by_root_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence for everybody else; OpenCode has no such settings."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for options in ((), ("--remove",)):
        done = invoke("guard", "claude", "--system", *options)
        assert done.code == 1
        assert "belong to root" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert invoke("guard", "opencode", "--system").code == 2
    assert list_left(home) == []


def test_a_guard_of_the_machine_is_shown_and_removed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --system, nothing of it is removed."""
    monkeypatch.setattr(places, "ETC", home / "etc")
    monkeypatch.setattr(launch, "SYSTEM", str(home / "etc/amplifier/guests/launch.json"))
    monkeypatch.setattr(system, "check_programs", lambda: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    done = invoke("guard", "gemini", "--system")
    assert "for every user of this machine" in done.stdout, done.stderr
    shown = json.loads(invoke("guard", "gemini", "--status", "--json").stdout)
    assert [one["scope"] for one in shown["installed"]] == ["system"]
    refused = invoke("guard", "gemini", "--remove")
    assert (refused.code, "root removes it with --system" in refused.stderr) == (2, True)
    assert invoke("guard", "gemini", "--system", "--remove").code == 0
    assert list_left(home) == []


def test_only_claude_code_speaks_http(home: Path) -> None:
    """The option is unknown to the others."""
    assert invoke("guard", "codex", "--http").code == 2
    done = invoke("guard", "claude", "--http")
    assert done.code == 0
    assert "NO_PROXY must name 127.0.0.1" in done.stdout
    assert "http://127.0.0.1:" in (home / ".claude" / "settings.json").read_text()


def test_a_bundle_is_written_with_its_whole_path(home: Path) -> None:
    """Agents work in any folder."""
    (home / "b.yaml").write_text("name: mine\n")
    trust_project(home, home / "b.yaml")
    done = invoke("guard", "claude", "--bundle", "b.yaml")
    assert done.code == 0, done.output
    assert f"'{home}/b.yaml' ||" in (home / ".claude" / "settings.json").read_text()


def test_noisy_events_are_added_on_demand(home: Path) -> None:
    """And go again without the option."""
    settings = home / ".gemini" / "settings.json"
    invoke("guard", "gemini", "--every-event")
    assert "AfterModel" in settings.read_text()
    assert "is guarded with these options now" in invoke("guard", "gemini").stdout
    assert "AfterModel" not in settings.read_text()


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


def test_every_agent_has_a_command(home: Path) -> None:
    """The help lists them all."""
    done = invoke("guard", "--help")
    assert done.code == 0
    assert all(name in done.stdout for name in TITLES)


def test_without_an_agent_all_on_this_machine_are_shown(home: Path) -> None:
    """Those that are installed, and those that have a guard."""
    nothing = invoke("guard")
    assert nothing.code == 1
    assert "No agent was found" in nothing.stdout
    install_codex(home)
    found = invoke("guard")
    assert found.code == 1
    assert "✗ Codex is not guarded: amplifier guard codex" in found.stdout
    invoke("guard", "codex")
    assert invoke("guard").code == 0
    invoke("guard", "cursor")
    listed = json.loads(invoke("guard", "--json").stdout)
    assert [one["agent"] for one in listed] == ["codex", "cursor"]
    assert [one["stands"] for one in listed] == [True, True]


def test_an_unknown_agent_is_wrong_usage(home: Path) -> None:
    """With the ones there are."""
    assert invoke("guard", "emacs").code == 2

"""amplifier guard AGENT: which settings are meant, and which options go together."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client import launch
from amplifier_hooks.coding_agents.installing import places, system
from tests.hooks.cli.program import invoke
from tests.support.agent_homes import list_left
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

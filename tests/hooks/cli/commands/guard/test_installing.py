"""Installing and removing: asked before, told afterwards, and never by an agent itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.cli.commands.guard.installing import TooOld, check_version
from amplifier_hooks.coding_agents.daemon import control
from tests.hooks.cli.program import invoke, run_at_terminal
from tests.support.agent_homes import list_left
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


def install_claude(home: Path, prints: str) -> None:
    """A program that only knows its version."""
    program = home / "bin" / "claude"
    program.write_text(f"#!/bin/sh\necho '{prints}'\n")
    program.chmod(0o755)


@pytest.mark.parametrize("version", ["2.1.325", "2.2.0", "10.0.0"])
def test_a_version_that_blocks_is_taken(home: Path, version: str) -> None:
    """Without a word."""
    install_claude(home, f"{version} (Claude Code)")
    assert check_version() == ""


def test_an_old_version_is_refused_before_anything_is_written(home: Path) -> None:
    """With both versions, and what would do."""
    install_claude(home, "2.1.197 (Claude Code)")
    with pytest.raises(TooOld, match=r"2\.1\.197 .* update it to 2\.1\.325"):
        check_version()
    done = invoke("guard", "claude", "--http")
    assert done.code == 1
    assert "leave out --http" in done.stderr
    assert list_left(home) == []


@pytest.mark.parametrize("prints", [None, "claude"])
def test_where_the_version_is_unknown_the_person_is_told(home: Path, prints: str | None) -> None:
    """Claude Code may be installed elsewhere."""
    if prints is not None:
        install_claude(home, prints)
    assert "2.1.325 or later" in check_version()
    assert "2.1.325 or later" in invoke("guard", "claude", "--http").stdout


def test_a_bundle_that_nobody_trusts_is_not_put_in_front_of_an_agent(project: Path) -> None:
    """It would deny everything; without a terminal, the command to run is named."""
    done = invoke("guard", "claude")
    assert done.code == 3
    assert "has not been trusted yet" in done.stderr
    assert "amplifier trust --digest" in done.stderr
    assert not (project / ".claude").exists()


@pytest.mark.slow
def test_at_a_terminal_the_person_is_asked_for_trust(project: Path) -> None:
    """And sees what would run."""
    with run_at_terminal("guard", "claude", columns=100, rows=30) as program:
        program.wait_for_question("Trust this folder?", "The bundle amplifier.yaml")
        program.press("\x1b[F")  # to the end, which must have been seen
        program.wait_for("Asked by  trust")
        program.press("a")
        program.wait_for("Claude Code is guarded now")
        assert program.wait_end() == 0
    assert (project / ".claude" / "settings.local.json").is_file()


def test_a_named_bundle_is_trusted_where_it_lies(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command says where, and with which option."""
    bundle = project / "strict.yaml"
    bundle.write_text("name: strict\n")
    done = invoke("guard", "claude", "--user", "--bundle", bundle)
    assert done.code == 3
    assert f"Run that in {project}, and add --bundle {bundle}" in done.stderr
    trust_project(project, bundle)
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")
    assert invoke("guard", "claude", "--user", "--bundle", bundle).code == 0
    assert invoke("guard", "claude", "--status").code == 0


def test_a_second_time_nothing_changes(home: Path) -> None:
    """And the command says so."""
    invoke("guard", "cursor")
    before = (home / ".cursor" / "hooks.json").read_bytes()
    done = invoke("guard", "cursor")
    assert done.code == 0
    assert "was guarded already" in done.stdout
    assert (home / ".cursor" / "hooks.json").read_bytes() == before


def test_a_guard_is_removed_where_it_is(project: Path, home: Path) -> None:
    """Wherever that is; if it is in both places, the person says which."""
    trust_project(project)
    kept = set(list_left(home))
    invoke("guard", "gemini", "--user")
    invoke("guard", "gemini", "--project")
    both = invoke("guard", "gemini", "--remove")
    assert both.code == 2
    assert "add --user or --project" in both.stderr
    assert invoke("guard", "gemini", "--remove", "--project").code == 0
    done = invoke("guard", "gemini", "--remove")
    assert "is no longer guarded by" in done.stdout
    assert set(list_left(home)) == kept
    assert "There is no guard of ours" in invoke("guard", "gemini", "--remove").stdout


def test_programs_read_what_was_done(home: Path) -> None:
    """As JSON."""
    done = json.loads(invoke("guard", "copilot", "--json").stdout)
    assert (done["agent"], done["scope"], done["change"]) == ("copilot", "user", "installed")
    assert "preToolUse" in done["events"]
    gone = json.loads(invoke("guard", "copilot", "--remove", "--json").stdout)
    assert (gone["file"], gone["change"]) == (done["file"], "removed")


def test_a_codex_that_does_not_trust_us_is_a_failure(home: Path) -> None:
    """The guard does not stand yet."""
    done = invoke("guard", "codex")
    assert done.code == 1
    assert "✗ There is no codex on the PATH" in done.stdout


@pytest.mark.parametrize("mark", ["CLAUDECODE", "COPILOT_CLI", "AMPLIFIER_COMMAND_ID"])
@pytest.mark.parametrize("option", ["--remove", "--user"])
def test_an_agent_cannot_change_its_own_guard(
    home: Path, monkeypatch: pytest.MonkeyPatch, mark: str, option: str
) -> None:
    """Its shell carries a mark."""
    invoke("guard", "claude")
    before = (home / ".claude" / "settings.json").read_bytes()
    monkeypatch.setenv(mark, "1")
    done = invoke("guard", "claude", option)
    assert done.code == 1
    assert "terminal of your own" in done.stderr
    assert (home / ".claude" / "settings.json").read_bytes() == before


def test_a_file_that_would_be_shared_is_mentioned(project: Path) -> None:
    """It holds paths of this machine; one that git ignores is not."""
    trust_project(project)
    (project / ".git").rmdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    assert "keep it out of version control" in invoke("guard", "cursor").stdout
    (project / ".gitignore").write_text(".cursor\n")
    assert "version control" not in invoke("guard", "cursor").stdout


def test_settings_that_cannot_be_read_are_an_error(home: Path) -> None:
    """With file and line, and nothing written."""
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{\n  "a": 1,\n}')
    done = invoke("guard", "claude")
    assert done.code == 1
    assert "settings.json, line 3: a comma before" in done.stderr
    assert list_left(home) == [".claude/settings.json"]

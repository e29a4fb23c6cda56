"""amplifier rules, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from amplifier_hooks.cli.commands.audit.options import select
from tests.hooks.cli.commands.rules.conftest import Record
from tests.hooks.cli.program import invoke


def test_all_sessions_of_the_folder_or_those_that_are_named(project: Path, record: Record) -> None:
    """A session of another folder is not looked at unless it is named."""
    with record("here") as here:
        pass
    assert select([]) == [here.path]
    assert select(["her"]) == [here.path]
    with pytest.raises(click.UsageError, match="nowhere"):
        select(["nowhere"])


BUNDLE = """
hooks:
  - module: hooks-rules
    config:
      rules:
        - {name: pushes, tool: Bash, command: git push, action: deny, reason: not here}
        - {name: forced, tool: Bash, command: git push --force, action: deny, reason: never}
        - {name: sources, tool: Write, path: "src/**", action: ask_user, approval_prompt: "Ok?"}
"""


def test_check_reads_the_bundle_of_the_folder_and_its_sessions(
    project: Path, record: Record
) -> None:
    """A shadowed rule makes the exit code 1; how often rules matched is a table."""
    (project / "amplifier.yaml").write_text(BUNDLE)
    with record("s1") as trail:
        trail.call("Bash", {"command": "git push origin main"})
    done = invoke("rules", "check")
    assert done.code == 1
    assert "forced: shadowed by pushes" in done.stdout
    assert "sources: matched nothing" in done.stdout
    assert "Matches in 1 events and 0 questions of 1 session" in done.stdout
    assert "Matches" not in invoke("rules", "check", "--no-trails").stdout


def test_check_is_clean_unless_notes_count(project: Path, record: Record) -> None:
    """A rule that was quiet so far is a note, which only --strict takes for a problem."""
    file = project / "policy.yaml"
    file.write_text("- {name: pushes, command: git push, action: deny, reason: not here}\n")
    with record("s1") as trail:
        trail.call("Bash", {"command": "make"})
    assert invoke("rules", "check", file).code == 0
    assert invoke("rules", "check", file, "--strict").code == 1
    assert invoke("rules", "check", file, "--strict", "--no-trails").code == 0
    found = json.loads(invoke("rules", "check", file, "--json").stdout)
    assert found["problems"] == []
    assert found["usage"]["uses"][0]["matched"] == 0


def test_check_says_what_it_cannot_do(project: Path) -> None:
    """Rules that cannot be loaded, trails that are not there, options that exclude each other."""
    file = project / "policy.yaml"
    file.write_text("- {name: x, action: denny}\n")
    broken = invoke("rules", "check", file)
    assert broken.code == 3
    assert "rule 'x'" in broken.stderr
    both = invoke("rules", "check", "--no-trails", "--trail", "x")
    assert both.code == 2
    file.write_text("- {name: x, action: deny, reason: never}\n")
    assert invoke("rules", "check", file, "--trail", "nowhere").code == 2


def test_check_leaves_no_store_behind(project: Path, tmp_path: Path) -> None:
    """Looking for standing rules makes no store where there is none."""
    assert invoke("rules", "check").code == 0
    assert not (tmp_path / "data").exists()


def test_suggest_proposes_and_writes_what_is_chosen(project: Path, record: Record) -> None:
    """Nothing is written unless asked for, and then to a new file, which can be used at once."""
    for session in ("s1", "s2"):
        with record(session) as trail:
            for command in ["make test"] * 3 + ["make docs"] * 3:
                trail.ask("Bash", {"command": command})
    shown = invoke("rules", "suggest", "--days", "1")
    assert shown.code == 0
    assert "2 rules suggested from 12 questions of 2 sessions" in shown.stdout
    assert list(project.iterdir()) == []
    chosen = ("--days", "1", "--only", "make-docs", "--write", "approvals.yaml")
    assert invoke("rules", "suggest", *chosen).code == 0
    assert invoke("rules", "suggest", *chosen).code == 2
    checked = invoke("rules", "check", "approvals.yaml")
    assert checked.code == 0
    assert "6  make-docs" in checked.stdout


def test_suggest_asks_for_more_than_one_day(project: Path, record: Record) -> None:
    """By default; and says what it did not take."""
    with record("s1") as trail:
        for _ in range(9):
            trail.ask("Bash", {"command": "make test"})
    found = json.loads(invoke("rules", "suggest", "--json").stdout)
    assert found["proposals"] == []
    assert found["withheld"][0]["reason"] == "it was in 1 session on 1 day only"


def test_a_trail_that_cannot_be_read_is_told_from_a_finding(tmp_path: Path) -> None:
    """Exit code 1 would mean that something was found."""
    folder = tmp_path / "trail"
    folder.mkdir()
    (folder / "00000000.jsonl").touch()
    ran = invoke("rules", "suggest", str(folder))
    assert ran.code == 2
    assert "there are no records" in ran.stderr

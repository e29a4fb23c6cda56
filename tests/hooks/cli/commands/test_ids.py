"""Ids in lists: each can be given back to every command that takes one, and means one session."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from amplifier_hooks import SessionInfo, SessionStore
from tests.hooks.cli.program import invoke
from tests.support.written_trails import WrittenTrail

GUESTS = (
    "claude-2f1e3a4b-0000-4000-8000-000000000001",
    "claude-2f1e3a4b-0000-4000-8000-000000000002",
    "claude-a0a0a0a0-0000-4000-8000-000000000003",
    "codex-a0a0a0a0-0000-4000-8000-000000000003",
)
CHECK = "claude-amplifier-check-0123456789abcdef"
OWN = ("3f0c2a18-0000-4000-8000-000000000001", "3f0c2a18-0000-4000-8000-000000000002")

# How a list is asked for; each prints the beginnings of ids.
LISTS: Sequence[tuple[str, ...]] = (
    ("audit", "list"),
    ("sessions", "list"),
    ("report", "--all", "--format", "md"),
    ("hooks", "stats", "--shadow"),
    ("hooks", "backtest", "--rules", "rules.yaml", "--only", "--examples", "9"),
)
# What takes an id; "ID" stands for it.
TAKERS: Sequence[tuple[str, ...]] = (
    ("audit", "show", "ID", "--json"),
    ("audit", "stats", "ID"),
    ("audit", "verify", "ID"),
    ("report", "ID", "--format", "json"),
    ("hooks", "stats", "ID", "--json"),
    ("hooks", "backtest", "ID", "--rules", "rules.yaml", "--only", "--json"),
    ("rules", "check", "rules.yaml", "--trail", "ID"),
    ("rules", "suggest", "ID"),
)
RULES = """rules:
  - {name: no-ls, tool: Bash, command: "ls*", action: deny, reason: no listing}
"""


@pytest.fixture
def work(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where other agents and we have worked, and where a check was done."""
    folder = home / "work"
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    (folder / "rules.yaml").write_text(RULES)
    root = home / "data/amplifier/audit"
    for session in (*GUESTS, *OWN):
        with WrittenTrail(root, session, folder) as trail:
            shadowed = {"hook": "watcher", "id": 1, "action": "continue", "shadowed": "deny"}
            trail.call("Bash", {"command": "ls"}, hooks=[shadowed])
    with WrittenTrail(root, CHECK, folder) as trail:
        trail.register("amplifier-check", "tool:pre")
        trail.call("Bash", {"command": "ls"})
    for session in OWN:
        SessionStore().save(SessionInfo(session, working_dir=str(folder)), {"messages": []})
    return folder


def find_ids(text: str) -> set[str]:
    """The words of a text that begin as one of the ids does."""
    words = set(re.findall(r"[A-Za-z0-9][A-Za-z0-9-]{5,}", text))
    return {word for word in words if any(one.startswith(word) for one in (*GUESTS, *OWN))}


@pytest.mark.parametrize("command", LISTS, ids=" ".join)
def test_every_id_of_a_list_means_one_session(work: Path, command: tuple[str, ...]) -> None:
    """Also those of other agents, which begin with the same words, and differ at the end."""
    shown = find_ids(invoke(*command).stdout)
    meant = [[one for one in (*GUESTS, *OWN) if one.startswith(id)] for id in shown]
    assert {len(one) for one in meant} == {1}, shown
    assert len({one for [one] in meant}) >= 3  # hooks stats shows the last examples only


@pytest.mark.parametrize("command", TAKERS, ids=" ".join)
def test_every_id_of_a_list_is_taken_by_every_command(work: Path, command: tuple[str, ...]) -> None:
    """As it stands in the list."""
    for id in sorted(find_ids(invoke("sessions", "list").stdout)):
        done = invoke(*(id if word == "ID" else word for word in command))
        assert done.code in (0, 1, 3), done.output
        assert "Several" not in done.output


def test_sessions_of_other_agents_are_listed_and_it_is_said_what_can_be_done(work: Path) -> None:
    """They are recorded, not saved; `show`, `resume` and `delete` say so too."""
    shown = invoke("sessions", "list").stdout
    assert re.search(r"^claude-a0a0a0a0 .* recorded .* Claude Code$", shown, re.MULTILINE)
    assert "amplifier report ID" in shown
    listed = json.loads(invoke("sessions", "list", "--json").stdout)
    assert {one["id"]: one["saved"] for one in listed} == {
        **dict.fromkeys(GUESTS, False),
        **dict.fromkeys(OWN, True),
    }
    for command in (["show"], ["delete", "--yes"], ["resume"]):
        done = invoke("sessions", *command, "codex-a0a0")
        assert done.code != 0
        assert f"{GUESTS[3]!r} is recorded, not saved: amplifier audit show" in done.output

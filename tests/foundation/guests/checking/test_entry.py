"""Our entries in an agent's settings, as the agent would call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_foundation.guests.checking.entry import read_entries
from amplifier_foundation.guests.installing.agents import AGENTS
from amplifier_foundation.guests.installing.guard import Wish, put_up
from amplifier_foundation.guests.installing.installation import Target
from amplifier_foundation.guests.resident.folder import choose_folder
from tests.foundation.guests.checking.guarded import make_entry
from tests.support.agent_homes import empty_home

LINE = "'/usr/bin/python' -I -S '/client.py' '/a b' claude Stop 590"


@pytest.mark.parametrize("agent", AGENTS)
def test_every_installed_line_is_read(agent: str, project: Path) -> None:
    """With its folder, our limit, and the longer one of the agent."""
    entries = read_entries(Target(agent, "user", project))
    assert set(entries) == set(AGENTS[agent].list_events())
    for one in entries.values():
        assert one.folder == choose_folder()
        assert one.seconds is not None
        assert one.seconds < one.handler.timeout
        assert not one.by_http


def test_entries_of_others_are_not_ours(project: Path) -> None:
    """Theirs stand before ours, in the same event and in the same group."""
    target = Target("claude", "user", project)
    text = target.path.read_text()
    data = json.loads(text)
    theirs = {"type": "command", "command": "true"}
    data["hooks"]["PreToolUse"][0]["hooks"].insert(0, theirs)
    data["hooks"]["PreToolUse"].insert(0, {"hooks": [theirs]})
    target.path.write_text(json.dumps(data))
    try:
        assert str(read_entries(target)["PreToolUse"].handler.command) != "true"
    finally:
        target.path.write_text(text)


def test_http_is_read_with_its_header_and_its_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only there does the agent itself close what fails."""
    with empty_home(monkeypatch) as home:
        target = Target("claude", "user", home)
        put_up(target, Wish(http=True))
        entries = read_entries(target)
    sent, started = entries["PreToolUse"], entries["SessionStart"]
    assert sent.by_http
    assert sent.handler.fail_closed
    assert "Authorization" in sent.handler.headers
    assert (sent.folder, sent.seconds) == (None, None)
    assert not started.by_http
    assert not started.handler.fail_closed
    moved = sent.move_to(Path("/x"), 77)
    assert moved.handler.url == "http://127.0.0.1:77/claude/PreToolUse"


@pytest.mark.parametrize("end", [" || exit 1 # amplifier-guest", " # amplifier-guest", ""])
def test_a_line_is_read_and_moved_whatever_its_end(end: str) -> None:
    """What is broken there is for the check to find."""
    entry = make_entry("claude", "Stop", LINE + end)
    assert (entry.folder, entry.seconds) == (Path("/a b"), 590)
    moved = entry.move_to(Path("/c d"))
    assert moved.folder == Path("/c d")
    assert str(moved.handler.command).endswith(f" claude Stop 590{end}")


@pytest.mark.parametrize("line", ["true", "'unbalanced", LINE.replace("590", "soon")])
def test_a_line_that_cannot_be_read_says_nothing(line: str) -> None:
    """Neither a folder nor a limit is guessed."""
    entry = make_entry("claude", "Stop", line)
    assert entry.seconds is None
    if "client" not in line:
        assert entry.folder is None
        with pytest.raises(ValueError, match="does not name its folder"):
            entry.move_to(Path("/x"))

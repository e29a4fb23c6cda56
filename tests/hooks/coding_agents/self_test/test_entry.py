"""Our entries in an agent's settings, as the agent would call them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard
from amplifier_hooks.coding_agents.installing.installation import Target
from amplifier_hooks.coding_agents.installing.line import make_guest_command
from amplifier_hooks.coding_agents.self_test.entry import Entry, explain_foreign, read_entries
from tests.hooks.coding_agents.self_test.guarded import make_entry
from tests.support.agent_homes import empty_home

LINE = "'/usr/bin/python' -I -S '/client.py' '/a b' claude Stop 590"


@pytest.mark.parametrize("agent", AGENTS)
def test_every_installed_line_is_read(agent: str, project: Path) -> None:
    """With its folder, our limit, and the longer one of the agent."""
    entries = read_entries(Target(agent, "user", project))
    assert set(entries) == set(AGENTS[agent].list_events(version=""))
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
        install_guard(target, GuardOptions(http=True))
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


@pytest.mark.parametrize("agent", AGENTS)
def test_what_this_installation_writes_is_run(agent: str, project: Path) -> None:
    """Every line of every agent."""
    assert explain_foreign(read_entries(Target(agent, "user", project))) is None


FOREIGN = (
    ("python", "/bin/sh"),
    ("client", "/tmp/client.py"),
    ("folder", "/tmp/folder"),
)


@pytest.mark.parametrize(("part", "other"), FOREIGN)
def test_a_line_of_another_program_is_not_run(part: str, other: str, project: Path) -> None:
    """Another interpreter, client, or folder whose launch.json starts anything."""
    command = replace(make_guest_command(choose_folder()), **{part: Path(other)})
    line = command.build_line("claude", "PreToolUse", 590, gate=True)
    why = explain_foreign({"PreToolUse": make_entry("claude", "PreToolUse", line)})
    assert why is not None
    assert other in why


@pytest.mark.parametrize(
    "end",
    [
        " || /tmp/evil # amplifier-guest",
        "; /tmp/evil # amplifier-guest",
        " $(/tmp/evil) || exit 1 # amplifier-guest",
        " '/b' || echo `/tmp/evil` # amplifier-guest",
        " '/b' && /tmp/evil",
        "\n/tmp/evil",
    ],
)
def test_a_line_that_goes_on_with_something_else_is_not_run(end: str, project: Path) -> None:
    """What is ours at its beginning may be followed by data only."""
    line = make_guest_command(choose_folder()).build_line("claude", "Stop", 590, gate=False)
    entry = make_entry("claude", "Stop", line.partition(" ||")[0] + end)
    assert explain_foreign({"Stop": entry}) is not None


@pytest.mark.parametrize("end", [" || exit 1 # amplifier-guest", " # amplifier-guest", ""])
def test_a_line_that_lost_its_end_is_run(end: str, project: Path) -> None:
    """That it does not block is what the check is there to find."""
    line = make_guest_command(choose_folder()).build_line("claude", "Stop", 590, gate=True)
    entry = make_entry("claude", "Stop", line.partition(" ||")[0] + end)
    assert explain_foreign({"Stop": entry}) is None


def test_an_event_is_sent_to_our_own_process_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to an address that the settings name."""
    with empty_home(monkeypatch) as home:
        target = Target("claude", "user", home)
        install_guard(target, GuardOptions(http=True))
        entries = read_entries(target)
        assert explain_foreign(entries) is None
        handler = entries["PreToolUse"].handler
        for url in ("http://127.0.0.1:1/claude/PreToolUse", "http://example.org/", "file:///x"):
            moved = {"PreToolUse": Entry(replace(handler, url=url))}
            assert url in str(explain_foreign(moved))

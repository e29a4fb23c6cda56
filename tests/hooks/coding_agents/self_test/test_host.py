"""A played agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.dialects.reply import Reply
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.self_test.host import LIMIT, Answer, Event, Host
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.self_test.guarded import make_entry

GIVEN = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def make(agent: str, event: str, folder: Path, command: str) -> tuple[Host, Event]:
    """A host with this command at one event, and such an event."""
    empty = Host(agent, {}, "session", folder)
    found = empty.find_row(event)
    assert found is not None
    assert empty.make_event(event, **GIVEN) is None
    host = Host(agent, {found[0]: make_entry(agent, found[0], command)}, "session", folder)
    fired = host.make_event(event, **GIVEN)
    assert fired is not None
    return host, fired


@pytest.mark.parametrize("agent", AGENTS)
def test_its_events_are_those_of_the_agent(agent: str, tmp_path: Path) -> None:
    """What it writes is read back as what it is."""
    host, event = make(agent, events.TOOL_PRE, tmp_path, "true")
    read = read_payload(DIALECTS[agent], event.entry.native, host.build_payload(event))
    assert (read.event, read.session_id, read.cwd) == (events.TOOL_PRE, "session", str(tmp_path))
    assert read.data["tool_name"] == "Bash"
    assert read.data["tool_input"] == {"command": "ls"}


def test_two_calls_have_two_ids(tmp_path: Path) -> None:
    """Or what comes after one could be taken for the other."""
    host, first = make("claude", events.TOOL_PRE, tmp_path, "true")
    second = host.make_event(events.TOOL_PRE, **GIVEN)
    assert second is not None
    assert first.call.tool_call_id != second.call.tool_call_id


def test_the_command_has_the_environment_of_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not that of an agent in whose shell the check runs, nor its limit."""
    monkeypatch.setenv(LIMIT, "7")
    monkeypatch.setenv("COPILOT_CLI", "1")
    host, event = make("claude", events.TOOL_PRE, tmp_path, "env >&2")
    told = host.call(event).reply.stderr.splitlines()
    assert "CLAUDECODE=1" in told
    assert not any(one.startswith((LIMIT, "COPILOT_CLI")) for one in told)
    assert f"{LIMIT}=3" in host.call(event, 3).reply.stderr.splitlines()


def test_answers_are_judged_as_the_agent_judges_them(tmp_path: Path) -> None:
    """Exit code 2 without a word blocks in Claude Code, and does nothing in Codex."""
    host, event = make("claude", events.TOOL_PRE, tmp_path, "exit 2")
    assert host.call(event).blocks
    host, event = make("codex", events.TOOL_PRE, tmp_path, "exit 2")
    assert not host.call(event).blocks


def test_a_session_begins_and_ends_where_the_agent_says_so(tmp_path: Path) -> None:
    """Both are told to what is installed there."""
    entries = {
        name: make_entry("claude", name, "cat >> told; echo >> told")
        for name in ("SessionStart", "SessionEnd")
    }
    host = Host("claude", entries, "session", tmp_path)
    host.start_session()
    host.end_session()
    told = [json.loads(one) for one in (tmp_path / "told").read_text().split("\n") if one]
    assert [one["hook_event_name"] for one in told] == ["SessionStart", "SessionEnd"]
    Host("claude", {}, "session", tmp_path).end_session()  # nothing is installed: nothing happens


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Answer(Verdict(decision="deny", reason="a\n b"), Reply(2, "", "c")), "a b"),
        (Answer(Verdict(), Reply(1, "", "oops\n")), "oops"),
        (Answer(Verdict(warnings=("w",)), Reply()), "w"),
        (Answer(Verdict(), Reply(7)), "exit code 7, and not a word"),
    ],
)
def test_what_was_said_is_shown_in_one_line(answer: Answer, text: str) -> None:
    """The reason first, or whatever there is."""
    assert answer.describe() == text

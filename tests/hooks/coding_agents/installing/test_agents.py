"""What an entry of ours looks like in the settings of each agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.daemon.http import BUNDLE_HEADER, SECONDS_HEADER
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.installing.agents import (
    AGENTS,
    Options,
    get_command,
    is_ours,
    list_handlers,
)
from amplifier_hooks.coding_agents.installing.line import GuestCommand, UnusablePath

COMMAND = GuestCommand(Path("/p"), Path("/c.py"), Path("/f"))
BEFORE = {
    "claude": "PreToolUse",
    "codex": "PreToolUse",
    "gemini": "BeforeTool",
    "copilot": "preToolUse",
    "cursor": "preToolUse",
}


def build(agent: str, event: str, **options: Any) -> Any:
    """One entry."""
    return AGENTS[agent].build_entries(Options(COMMAND, **options))[event]


def test_before_a_tool_every_agent_is_told_to_block_what_was_not_judged() -> None:
    """In the shape, and with the unit of time, that it reads."""
    lines = {
        agent: COMMAND.build_line(agent, event, 590, gate=True) for agent, event in BEFORE.items()
    }
    command = {"type": "command"}
    assert {agent: build(agent, event) for agent, event in BEFORE.items()} == {
        "claude": {
            "hooks": [{**command, "command": lines["claude"], "timeout": 600, "onFailure": "block"}]
        },
        "codex": {"hooks": [{**command, "command": lines["codex"], "timeout": 600}]},
        "gemini": {
            "matcher": "*",
            "hooks": [
                {
                    **command,
                    "name": "amplifier",
                    "command": lines["gemini"],
                    "timeout": 600_000,
                }
            ],
        },
        "copilot": {**command, "bash": lines["copilot"], "timeoutSec": 600},
        "cursor": {"command": lines["cursor"], "timeout": 600, "failClosed": True},
    }


@pytest.mark.parametrize("agent", AGENTS)
def test_a_failure_blocks_at_gates_and_nowhere_else(agent: str) -> None:
    """At a stop, blocking would make the agent go on for ever."""
    entries = AGENTS[agent].build_entries(Options(COMMAND, every_event=True))
    assert set(entries) == set(DIALECTS[agent].events)
    for event, row in DIALECTS[agent].events.items():
        (handler,) = list_handlers(entries[event])
        assert ("not judged" in str(get_command(handler))) is row.gate
        assert ("onFailure" in handler or "failClosed" in handler) <= row.gate
    assert any(row.gate for row in DIALECTS[agent].events.values())


@pytest.mark.parametrize("agent", AGENTS)
def test_our_own_limit_is_below_the_agents(agent: str) -> None:
    """Else it gives up first, and lets the call through."""
    for event in AGENTS[agent].list_events(every_event=True):
        limits = AGENTS[agent].get_limits(event)
        written = None if limits.host is None else limits.host * DIALECTS[agent].unit
        assert limits.ours < (written or DIALECTS[agent].get_timeout(event))


def test_the_end_of_a_session_is_not_held_up() -> None:
    """Some agents wait for it, and some for a second only."""
    ends = {"gemini": "SessionEnd", "copilot": "sessionEnd", "opencode": "dispose"}
    assert all(AGENTS[agent].get_limits(event).ours <= 10 for agent, event in ends.items())
    assert AGENTS["codex"].get_limits("SessionEnd").ours < 1


def test_noisy_events_are_only_installed_when_they_are_wanted() -> None:
    """They cost a process for every piece of a message."""
    assert "AfterModel" not in AGENTS["gemini"].list_events()
    assert "AfterModel" in AGENTS["gemini"].list_events(every_event=True)


def test_over_http_each_event_has_its_address() -> None:
    """With the token, and closed where the server cannot be reached."""
    entry = build("claude", "PreToolUse", http=(4711, "secret"))
    assert entry["hooks"] == [
        {
            "type": "http",
            "url": "http://127.0.0.1:4711/claude/PreToolUse",
            "headers": {
                "Authorization": "Bearer secret",
                "X-Amplifier-Guest": "1",
                "X-Amplifier-Seconds": "590",
            },
            "timeout": 600,
            "onFailure": "block",
        }
    ]
    assert is_ours(entry["hooks"][0])
    others: tuple[Any, ...] = (None, [], "x", {}, {"command": 1}, {"command": "lint"})
    assert not any(is_ours(one) for one in (*others, {"headers": []}, {"headers": {"x": "1"}}))
    for event in ("SessionStart", "Setup"):  # a command also starts the resident process
        entry = build("claude", event, http=(4711, "secret"), every_event=True)
        assert entry["hooks"][0]["type"] == "command"


def test_over_http_the_bundle_is_a_header() -> None:
    """Unless a header cannot carry it."""
    entry = build("claude", "PreToolUse", http=(4711, "secret"), bundle=Path("/b c.yaml"))
    headers = {name.lower(): one for name, one in entry["hooks"][0]["headers"].items()}
    assert headers[BUNDLE_HEADER] == "/b c.yaml"
    assert headers[SECONDS_HEADER] == "590"
    for name in ("é", "$HOME", "\t"):
        with pytest.raises(UnusablePath, match="leave out --http"):
            build("claude", "PreToolUse", http=(4711, "secret"), bundle=Path(f"/{name}.yaml"))

"""Sub-agents: sessions of their own, and what hooks say when they start."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from amplifier_core import HookResult
from amplifier_hooks.frameworks.claude_agent_sdk.client import Connection
from amplifier_hooks.frameworks.claude_agent_sdk.session import choose
from tests.adapters.stage import Stage
from tests.hooks.frameworks.claude_agent_sdk.program import describe_call, tell

DENY = HookResult(action="deny", reason="against the rules")
AGENT = describe_call("Agent", 1, subagent_type="tester", prompt="Test it.", description="test")
INNER = {"agent_id": "a1", "agent_type": "tester"}


def connect(stage: Stage) -> Connection:
    """A connection behind these hooks."""
    return Connection(stage.hooks, choose(60, (), "inline"))


async def delegate(connection: Connection) -> dict[str, Any]:
    """The agent starts a sub-agent, which lists a folder."""
    answer = await tell(connection, "PreToolUse", **AGENT)
    await tell(connection, "SubagentStart", **INNER)
    call = describe_call("Bash", 2, command="ls")
    await tell(connection, "PreToolUse", **INNER, **call)
    return answer


async def test_a_sub_agent_has_a_session_below_its_agents(stage: Stage) -> None:
    """Its calls carry its own session, and the one of its agent as the parent."""
    stage.listen("tool:pre", "session:fork")
    connection = connect(stage)
    await delegate(connection)
    first, fork, second = (data for _, data in stage.heard.events)
    assert first["tool_name"] == "Delegate"
    assert first["tool_input"]["task"] == "Test it."
    assert fork["agent_name"] == "tester"
    assert second["parent_id"] == first["session_id"]
    assert second["session_id"] != first["session_id"]
    await tell(connection, "SubagentStop", **INNER, last_assistant_message="Tested.")
    assert len(stage.of_type("session_ended")) == 1
    await connection.end("complete")
    assert len(stage.of_type("session_ended")) == 2


async def test_its_start_is_asked_about_once(stage: Stage) -> None:
    """With the task, before the program starts it; its end is told."""
    stage.listen("agent:spawn", "agent:complete")
    connection = connect(stage)
    await delegate(connection)
    await tell(connection, "SubagentStop", **INNER, last_assistant_message="Tested.")
    assert stage.heard.names == ["agent:spawn", "agent:complete"]
    assert stage.heard.events[0][1]["task"] == "Test it."


async def test_a_refused_start_is_a_refused_call(stage: Stage) -> None:
    """The program does not start it."""
    stage.answer("agent:spawn", DENY)
    said = await tell(connect(stage), "PreToolUse", **AGENT)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]


async def test_a_changed_start_is_refused(stage: Stage) -> None:
    """The program cannot be given another one, and the reason says where it can be changed."""

    def change(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "task": "Do nothing."})

    stage.answer("agent:spawn", change)
    said = await tell(connect(stage), "PreToolUse", **AGENT)
    assert "tool:pre" in said["hookSpecificOutput"]["permissionDecisionReason"]


async def test_one_that_the_program_starts_by_itself_does_nothing_if_refused(stage: Stage) -> None:
    """No call announced it, so each of its calls is denied."""
    stage.answer("agent:spawn", DENY)
    connection = connect(stage)
    started = await tell(connection, "SubagentStart", **INNER)
    assert "against the rules" in started["hookSpecificOutput"]["additionalContext"]
    call = describe_call("Bash", 2, command="ls")
    said = await tell(connection, "PreToolUse", **INNER, **call)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


async def test_what_hooks_say_at_its_start_is_for_it(stage: Stage) -> None:
    """And not for the agent that started it."""
    said = HookResult(action="inject_context", context_injection="Only read.")
    stage.answer("agent:spawn", said)
    connection = connect(stage)
    assert "Only read." not in str(await tell(connection, "PreToolUse", **AGENT))
    started = await tell(connection, "SubagentStart", **INNER)
    assert started["hookSpecificOutput"]["additionalContext"] == "Only read."

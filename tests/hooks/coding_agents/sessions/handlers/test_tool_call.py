"""A tool call in two halves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.dialects.verdict import UNCHANGED
from tests.hooks.coding_agents.sessions.agents import start

AGENTS = {"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}


@pytest.mark.parametrize(("agent", "event"), AGENTS.items())
async def test_hooks_see_the_call_under_our_names(project: Path, agent: str, event: str) -> None:
    """Whatever the agent calls its shell, a hook sees Bash with a command."""
    async with start(agent, project) as one:
        told = one.hook(TOOL_PRE)
        verdict = await one.tell(event)
    assert verdict.decision is None
    assert told[0]["tool_name"] == "Bash"
    assert "out.txt" in told[0]["tool_input"]["command"]
    assert told[0]["session_id"] == "s1"


async def test_a_denial_names_the_hook_and_its_reason(project: Path) -> None:
    """The agent reads who denied it and why."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, name="strict", action="deny", reason="not today")
        verdict = await one.tell("PreToolUse")
    assert verdict.decision == "deny"
    assert verdict.reason == "Operation denied by strict: not today"


async def test_a_changed_input_goes_to_the_agent(project: Path) -> None:
    """A hook that modifies the call changes what the agent runs."""
    async with start("claude", project) as one:
        data = {"tool_name": "Bash", "tool_input": {"command": "echo safe"}}
        one.hook(TOOL_PRE, action="modify", data=data)
        verdict = await one.tell("PreToolUse")
        after = one.hook(TOOL_POST)
        await one.tell("PostToolUse")
    assert verdict.tool_input == {"command": "echo safe"}
    assert after[0]["tool_input"] == {"command": "echo safe"}


async def test_another_tool_cannot_be_given_to_an_agent(project: Path) -> None:
    """A hook that picks another tool has the call denied: the agent would run the first one."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, action="modify", data={"tool_name": "Read", "tool_input": {}})
        verdict = await one.tell("PreToolUse")
    assert verdict.decision == "deny"
    assert "another tool ('Read')" in str(verdict.reason)


async def test_an_input_that_is_none_is_not_given_to_an_agent(project: Path) -> None:
    """A hook that leaves no object has the call denied, and the reason says what it left."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, action="modify", data={"tool_name": "Bash", "tool_input": ["x"]})
        verdict = await one.tell("PreToolUse")
    assert verdict.decision == "deny"
    assert verdict.reason == "A hook left no usable input for Bash: list"


@pytest.mark.parametrize("changes_all", [True, False])
async def test_a_call_is_judged_where_the_agent_is(project: Path, changes_all: bool) -> None:
    """A hook that would change it only there cannot; one that changes every call has done so."""
    below = project / "below"
    below.mkdir()
    async with start("claude", project) as one:
        told = []

        async def change(event: str, data: dict[str, Any]) -> HookResult:
            told.append((data["tool_call_id"], data["tool_input"]["command"]))
            if changes_all or told[-1][1].startswith("cd "):
                return HookResult(action="modify", data={**data, "tool_input": {"command": "pwd"}})
            return HookResult()

        one.guest.coordinator.hooks.register(TOOL_PRE, change, 1, "change")
        verdict = await one.tell(
            "PreToolUse", cwd=str(below), tool_use_id="t", tool_input={"command": "ls"}
        )
        one.guest.coordinator.hooks.unregister("change")
        one.hook(TOOL_PRE)
        plain = await one.tell("PreToolUse", cwd=str(below), tool_input={"command": "ls"})
    assert plain.decision is None
    there = "pwd" if changes_all else "ls"
    assert told == [("t", "ls"), ("t:there:1", f"cd {below} && {there}")]
    assert verdict.tool_input == ({"command": "pwd"} if changes_all else None)
    assert (verdict.decision == "deny") is not changes_all


async def test_injections_go_with_the_answer(project: Path) -> None:
    """What a hook injects is part of the answer to the same event."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, action="inject_context", context_injection="mind the gap")
        verdict = await one.tell("PreToolUse")
    assert any("mind the gap" in text for text in verdict.context)


async def test_an_injection_waits_where_the_agent_takes_none(project: Path) -> None:
    """Gemini ignores context before a tool, and takes it after."""
    async with start("gemini", project) as one:
        one.hook(TOOL_PRE, action="inject_context", context_injection="mind the gap")
        before = await one.tell("BeforeTool")
        after = await one.tell("AfterTool")
    assert before.context == ()
    assert any("mind the gap" in text for text in after.context)


async def test_each_file_of_a_patch_is_judged(project: Path) -> None:
    """A hook that guards files by Write and Edit sees each file of Codex's patch."""
    async with start("codex", project) as one:
        told = one.hook(TOOL_PRE)
        await one.tell("PreToolUse.apply_patch")
    assert told[0]["tool_name"] == "apply_patch"
    assert all(Path(data["tool_input"]["file_path"]).is_absolute() for data in told[1:])
    assert len(told) > 1


async def test_a_part_that_is_denied_denies_the_whole(project: Path) -> None:
    """One guarded file in a patch keeps the whole patch away."""
    async with start("codex", project) as one:

        async def guard(event: str, data: dict[str, Any]) -> HookResult:
            if data["tool_name"] in ("Write", "Edit"):
                return HookResult(action="deny", reason="guarded")
            return HookResult()

        one.guest.coordinator.hooks.register(TOOL_PRE, guard, 1, "files")
        verdict = await one.tell("PreToolUse.apply_patch")
    assert verdict.decision == "deny"
    assert "guarded" in str(verdict.reason)


async def test_a_part_cannot_be_changed(project: Path) -> None:
    """The agent is given a whole call or none: what a hook changes in a part denies it."""
    async with start("codex", project) as one:

        async def change(event: str, data: dict[str, Any]) -> HookResult:
            if data["tool_name"] in ("Write", "Edit"):
                return HookResult(action="modify", data={**data, "tool_input": {}})
            return HookResult()

        assert (await one.tell("PreToolUse.apply_patch")).decision is None
        one.guest.coordinator.hooks.register(TOOL_PRE, change, 1, "change")
        verdict = await one.tell("PreToolUse.apply_patch")
    assert verdict.decision == "deny"
    assert "a hook changed a part of this" in str(verdict.reason)


async def test_a_result_can_be_changed_and_withheld(project: Path) -> None:
    """After the tool, hooks change what the model reads, or keep it away."""
    async with start("claude", project) as one:
        changed = {"tool_result": {"success": True, "output": "hidden", "error": None}}
        one.hook(TOOL_POST, action="modify", data=changed)
        verdict = await one.tell("PostToolUse")
    assert verdict.output == "hidden"
    async with start("claude", project, "s2") as one:
        one.hook(TOOL_POST, action="deny", reason="secret")
        verdict = await one.tell("PostToolUse")
    assert verdict.withhold
    assert "secret" in verdict.output


async def test_an_unchanged_result_is_not_answered(project: Path) -> None:
    """Nothing is replaced that no hook has touched."""
    async with start("claude", project) as one:
        one.hook(TOOL_POST)
        verdict = await one.tell("PostToolUse")
    assert verdict.output is UNCHANGED


async def test_a_failed_tool_is_told(project: Path) -> None:
    """Hooks of tool:error hear of it, with the message."""
    async with start("claude", project) as one:
        told = one.hook(TOOL_ERROR)
        await one.tell("PostToolUseFailure")
    assert told[0]["error"]["message"]


@pytest.mark.parametrize(
    ("agent", "before", "after"),
    [
        ("claude", "PreToolUse", "PostToolUse"),
        ("gemini", "BeforeTool", "AfterTool"),
        ("copilot", "preToolUse", "postToolUse"),
    ],
)
async def test_the_trail_has_both_halves_under_one_id(
    home: Path, project: Path, agent: str, before: str, after: str
) -> None:
    """A call that was started and reported is one call, also where the agent gives no id."""
    async with start(agent, project) as one:
        await one.tell(before)
        await one.tell(after)
    records = list(read_records(open_log(locate_trail({}, "s1"))))
    halves = [one for one in records if one["type"] in ("tool_started", "tool_finished")]
    assert [one["type"] for one in halves] == ["tool_started", "tool_finished"]
    assert halves[0]["body"]["id"] == halves[1]["body"]["id"]
    assert halves[1]["body"]["outcome"] == "returned"
    assert 0 <= halves[1]["body"]["ms"] < 60_000


async def test_two_calls_at_once_keep_their_injections_apart(project: Path) -> None:
    """Codex and Gemini hook several calls at the same time."""
    async with start("claude", project) as one:
        both = asyncio.Barrier(2)

        async def say(event: str, data: dict[str, Any]) -> HookResult:
            await both.wait()
            return HookResult(
                action="inject_context", context_injection=f"for {data['tool_call_id']}"
            )

        one.guest.coordinator.hooks.register(TOOL_PRE, say, 1, "say")
        first, second = await asyncio.gather(
            one.tell("PreToolUse", tool_use_id="a"), one.tell("PreToolUse", tool_use_id="b")
        )
    assert [text for text in first.context if "for a" in text]
    assert not [text for text in first.context if "for b" in text]
    assert [text for text in second.context if "for b" in text]

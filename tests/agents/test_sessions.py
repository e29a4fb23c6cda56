"""One trail for each session of an agent, with its beginning, its end and every call in it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.agents.cases import run_with, run_with_all
from tests.agents.programs import Codex, Program
from tests.agents.trails import read_trail, read_trails
from tests.agents.world import World
from tests.support.waiting import wait_until

pytestmark = pytest.mark.agents

DONE = {"text": "Done."}


@run_with_all
async def test_the_trail_has_the_whole_session(world: World, program: Program) -> None:
    """Beginning, prompt, both calls with their verdicts, end; and it verifies."""
    fine, denied = "echo fine >> out.txt", "echo deny-me >> out.txt"
    calls = [{"tool_calls": [program.call_shell(one)]} for one in (fine, denied)]
    outcome = await world.run(program, [*calls, DONE])
    assert world.read() == ["fine"], outcome.output
    trail = await asyncio.to_thread(read_trail, world)
    assert trail.list_calls() == [(fine, "continue"), (denied, "deny")]
    types = trail.list_types()
    assert [types.count(one) for one in ("session_started", "session_ended")] == [1, 1]
    assert types.count("tool_finished") == 1
    assert len(trail.list_events("prompt:submit")) == 1


@run_with("claude", "gemini", "copilot")
async def test_what_a_sub_agent_does_is_judged_too(world: World, program: Program) -> None:
    """It plays the same script, so the command is called by it and by the agent itself."""
    command = "echo deny-me >> out.txt"
    script = [{"tool_calls": [program.call_agent()]}, {"tool_calls": [program.call_shell(command)]}]
    outcome = await world.run(program, [*script, DONE])
    assert world.read() == [], outcome.output
    told = [one for one in outcome.asked if "the-judge-refuses" in one]
    assert len(told) >= 2
    trail = await asyncio.to_thread(read_trail, world)
    assert trail.list_calls().count((command, "deny")) >= 2
    assert [one for one in trail.list_types() if one == "session_ended"] == ["session_ended"]


@run_with("codex")
async def test_a_sub_agent_that_works_beside_is_judged_too(world: World, program: Program) -> None:
    """Codex does not wait for it: both calls are with our hook at the same time."""
    command = "echo wait-me >> out.txt"
    script = [{"tool_calls": [program.call_agent()]}, {"tool_calls": [program.call_shell(command)]}]
    running = asyncio.create_task(world.run(program, [*script, DONE]))
    await wait_until(lambda: len(world.read("judging")) == 2 or running.done())
    (world.project / "refuse-calls").touch()
    world.let_go()
    outcome = await running
    assert world.read() == [], outcome.output
    trail = await asyncio.to_thread(read_trail, world)
    assert trail.list_calls() == [(command, "deny")] * 2
    assert trail.list_types().count("session_ended") == 1


@run_with_all
async def test_several_calls_at_once_are_all_judged(world: World, program: Program) -> None:
    """One reply of the model with five of them: some agents hook them at the same time."""
    words = ("one", "deny-me", "two", "deny-me 2", "three")
    commands = [f"echo {word} >> out.txt" for word in words]
    script: list[dict[str, Any]] = [
        {"tool_calls": [program.call_shell(one) for one in commands]},
        DONE,
    ]
    outcome = await world.run(program, script)
    assert sorted(world.read()) == ["one", "three", "two"], outcome.output
    trail = await asyncio.to_thread(read_trail, world)
    assert sorted(command for command, _ in trail.list_calls()) == sorted(commands)


@run_with("codex")
async def test_a_patch_is_judged(world: World, program: Codex) -> None:
    """Codex writes files by a tool that takes a text."""
    script = [
        {"tool_calls": [program.call_patch("denied.txt", "deny-me")]},
        {"tool_calls": [program.call_patch("fine.txt", "fine")]},
    ]
    outcome = await world.run(program, [*script, DONE])
    assert (world.read("denied.txt"), world.read("fine.txt")) == ([], ["fine"]), outcome.output
    assert "the-judge-refuses" in outcome.asked[1]


@run_with_all
async def test_two_sessions_have_two_trails(world: World, program: Program) -> None:
    """One after the other in the same folder."""
    for word in ("first", "second"):
        shell = program.call_shell(f"echo {word} >> out.txt")
        await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == ["first", "second"]
    trails = await asyncio.to_thread(read_trails, world)
    calls = sorted(call for trail in trails for call in trail.list_calls())
    assert calls == [(f"echo {word} >> out.txt", "continue") for word in ("first", "second")]
    assert len(trails) == 2

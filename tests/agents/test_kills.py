"""Processes that die in the middle: nothing runs unjudged, and nothing is lost from the trail."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from tests.agents.cases import run_with_all
from tests.agents.programs import Program
from tests.agents.trails import read_trail, read_trails
from tests.agents.world import Outcome, World
from tests.support.waiting import wait_until

pytestmark = pytest.mark.agents

DONE = {"text": "Done."}
COMMAND = "echo wait-me >> out.txt"


async def start_until_judging(world: World, program: Program) -> asyncio.Task[Outcome]:
    """A run whose call is with our hook now."""
    script: list[dict[str, Any]] = [{"tool_calls": [program.call_shell(COMMAND)]}, DONE]
    running = asyncio.create_task(world.run(program, script))
    await wait_until(lambda: bool(world.read("judging")) or running.done())
    assert not running.done(), running.result().output
    return running


@run_with_all
async def test_a_call_is_judged_again_when_the_resident_process_dies(
    world: World, program: Program
) -> None:
    """The client starts another one and repeats what it asked: the command runs once."""
    running = await start_until_judging(world, program)
    first = world.ask_resident("status")["pid"]
    os.kill(first, signal.SIGKILL)
    await wait_until(lambda: len(world.read("judging")) == 2)
    assert world.read() == []
    world.let_go()
    outcome = await running
    assert world.read() == ["wait-me"], outcome.output
    assert world.ask_resident("status")["pid"] != first
    trail = await asyncio.to_thread(read_trail, world, recovered=True)
    assert (COMMAND, "continue") in trail.list_calls()
    assert "session_ended" in trail.list_types()


@run_with_all
async def test_a_killed_client_is_a_denial(world: World, program: Program) -> None:
    """The shell line around it says no."""
    running = await start_until_judging(world, program)
    for client in world.find_clients():
        os.kill(client, signal.SIGKILL)
    outcome = await running
    assert world.read() == [], outcome.output
    assert len(outcome.asked) == 2


@run_with_all
async def test_a_killed_agent_leaves_a_trail_that_verifies(world: World, program: Program) -> None:
    """The call that was being judged never ran, and the next session begins as usual."""
    running = await start_until_judging(world, program)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    world.let_go()
    shell = program.call_shell("echo after >> out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == ["after"], outcome.output
    trails = await asyncio.to_thread(read_trails, world)
    assert len(trails) == 2
    assert sorted(
        (command for trail in trails for command, _ in trail.list_calls()), reverse=True
    ) == [COMMAND, "echo after >> out.txt"]

"""Where a person is asked: by the agent itself, or through the store on this machine."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.agents.cases import run_with
from tests.agents.programs import Program
from tests.agents.trails import read_trail
from tests.agents.world import World
from tests.support.waiting import wait_until

pytestmark = pytest.mark.agents

COMMAND = "echo ask-me >> out.txt"
DONE = {"text": "Done."}


@run_with("claude", "copilot")
async def test_a_question_that_the_agent_can_ask_nobody_is_a_denial(
    world: World, program: Program
) -> None:
    """These have a prompt of their own, and without a terminal they refuse by themselves."""
    shell = program.call_shell(COMMAND)
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == [], outcome.output
    assert "the-judge-asks" in outcome.asked[1]


@pytest.mark.parametrize("answer", ["allow", "deny"])
@run_with("codex", "gemini")
async def test_a_question_is_answered_from_another_shell(
    world: World, program: Program, answer: str
) -> None:
    """These cannot ask, so the question waits in the store; nothing runs before the answer."""
    shell = program.call_shell(COMMAND)
    running = asyncio.create_task(world.run(program, [{"tool_calls": [shell]}, DONE]))
    question = await wait_for_question(world)
    assert world.read() == []
    words = ("approvals", answer, question, "--yes", "--comment", "said-from-elsewhere")
    await asyncio.to_thread(world.amplifier_at_terminal, *words)
    outcome = await running
    assert world.read() == (["ask-me"] if answer == "allow" else []), outcome.output
    assert "said-from-elsewhere" in outcome.asked[1]
    decided = "approval_decided"
    assert decided in (await asyncio.to_thread(read_trail, world)).list_types()


async def wait_for_question(world: World) -> str:
    """The id of the question that waits."""
    found: list[str] = []

    async def look() -> bool:
        said = await asyncio.to_thread(world.amplifier, "approvals", "list", "--json")
        found.extend(str(json.loads(line)["id"]) for line in said.splitlines())
        return bool(found)

    await wait_until(look)
    return found[0]

"""Several agents at once in one folder: one resident process, one trail for each session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.agents.programs import PROGRAMS, Program
from tests.agents.trails import read_trails
from tests.agents.world import World

pytestmark = pytest.mark.agents

ROUNDS = 4
PAIRS = [("claude", "codex"), ("gemini", "copilot"), ("claude", "claude")]


def write_script(program: Program, mark: str) -> list[dict[str, Any]]:
    """Commands that are allowed and denied in turn, each with the mark of its agent."""
    words = [f"{mark}-{n}" if n % 2 else f"deny-me-{mark}-{n}" for n in range(ROUNDS)]
    calls = [program.call_shell(f"echo {word} >> out.txt") for word in words]
    return [*({"tool_calls": [call]} for call in calls), {"text": "Done."}]


@pytest.mark.parametrize("names", PAIRS, ids="+".join)
async def test_two_agents_at_once_are_each_judged(bare_world: World, names: Sequence[str]) -> None:
    """What is allowed runs, what is denied does not, and each trail has its own calls only."""
    world, programs = bare_world, [PROGRAMS[name] for name in names]
    world.write_bundle()
    for program in dict.fromkeys(programs):
        world.set_up(program)
        world.guard(program, "--user")
    runs = [
        world.run(one, write_script(one, mark)) for mark, one in zip("ab", programs, strict=True)
    ]
    await asyncio.gather(*runs)
    allowed = [n for n in range(ROUNDS) if n % 2]
    assert sorted(world.read()) == [f"{mark}-{n}" for mark in "ab" for n in allowed]
    trails = await asyncio.to_thread(read_trails, world)
    assert len(trails) == 2
    for trail in trails:
        calls = trail.list_calls()
        assert len(calls) == ROUNDS
        assert len({command.split("-")[-2][-1] for command, _ in calls}) == 1
        assert [action for _, action in calls] == ["deny", "continue"] * (ROUNDS // 2)
        assert "session_ended" in trail.list_types()

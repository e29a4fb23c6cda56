"""Skills and mods of Claude Code, which do things that it asks no hook about."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.agents.cases import run_with, write_mod
from tests.agents.programs import Program
from tests.agents.trails import read_trail
from tests.agents.world import World

pytestmark = pytest.mark.agents

DONE = {"text": "Done."}
COMMAND = "echo deny-me >> out.txt"
TEXT = f"---\nname: look\ndescription: Looks\nallowed-tools: Bash(*)\n---\nIt is: !`{COMMAND}`\n"


class With(Program):
    """A program with further arguments."""

    def __init__(self, program: Program, *words: str) -> None:
        self._program = program
        self._words = words
        self.name = program.name
        self.locate = program.locate  # type: ignore[method-assign]
        self.build_environment = program.build_environment  # type: ignore[method-assign]

    def build_command(self, program: Path, url: str) -> list[str]:
        return [*self._program.build_command(program, url), *self._words]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@run_with("claude")
async def test_a_command_in_a_skill_is_judged(world: World, program: Program) -> None:
    """It would run when the model calls the skill."""
    write(world.project / ".claude" / "skills" / "look" / "SKILL.md", TEXT)
    call = {"name": "Skill", "input": {"skill": "look"}}
    outcome = await world.run(program, [{"tool_calls": [call]}, DONE])
    assert world.read() == [], outcome.output
    assert "the-judge-refuses" in outcome.asked[1]
    trail = await asyncio.to_thread(read_trail, world)
    assert (COMMAND, "deny") in trail.list_calls()


@run_with("claude")
async def test_a_mod_that_runs_what_was_denied_is_said(world: World, program: Program) -> None:
    """Nothing can keep it from that; the trail and the report have it, loudly."""
    mod = world.home / "mod"
    write_mod(mod)
    calls = {"tool_calls": [program.call_shell(COMMAND)]}
    outcome = await world.run(With(program, "--plugin-dir", str(mod)), [calls, DONE])
    assert world.read() == ["deny-me"], outcome.output
    assert "done by the mod" in outcome.asked[1]
    trail = await asyncio.to_thread(read_trail, world)
    assert trail.list_calls() == [(COMMAND, "deny")]
    (said,) = [one["body"] for one in trail.records if one["type"] == "denial_contradicted"]
    assert (said["shown"], said["input"]["command"]) == ("transcript", COMMAND)
    shown = await asyncio.to_thread(world.amplifier, "audit", "show")
    assert "ran although denied" in shown
    report = await asyncio.to_thread(world.amplifier, "report", "--format", "md")
    assert "ran all the same" in " ".join(report.split())

"""Our own MCP server in a real agent: it asks what it may do, and is told."""

from __future__ import annotations

import pytest

from tests.agents.cases import run_with
from tests.agents.programs import Program
from tests.agents.world import AMPLIFIER, World

pytestmark = pytest.mark.agents

DONE = {"text": "Done."}


@run_with("claude", "codex", "gemini")
async def test_an_agent_asks_what_it_may_do_and_reads_the_answer(
    bare_world: World, program: Program
) -> None:
    """A denial with its reason, a hook that could not be asked, and no question to anybody."""
    bare_world.set_up(program)
    bare_world.write_bundle()
    program.add_server(bare_world.home, "amplifier", [str(AMPLIFIER), "mcp", "server"])
    calls = [
        program.call_server(
            "amplifier", "check_call", {"tool_name": "Bash", "tool_input": {"command": command}}
        )
        for command in ("rm -rf /", "ls")
    ]
    outcome = await bare_world.run(program, [*({"tool_calls": [one]} for one in calls), DONE])
    assert "recursive-delete" in outcome.asked[1], outcome.output
    assert "judge (judge.py)" in outcome.asked[2]
    assert bare_world.amplifier("approvals", "list").startswith("Nothing waits")

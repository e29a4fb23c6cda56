"""Sub-agents: agents that a tool of another one runs."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai")

from amplifier_core import HookResult
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver
from tests.adapters.stage import DONE, Stage, call, use

driver = PydanticAIDriver()
HELP = use(call("helper", task="Clean up."))


async def test_a_sub_agent_has_a_session_inside_that_of_its_caller(stage: Stage) -> None:
    """Hooks hear of its start and its end, and what it answered."""
    stage.listen("session:start", "agent:spawn", "agent:complete", "session:end")
    await driver.run_with_helper(stage.hooks, HELP, [DONE])
    assert stage.heard.names == [
        "session:start",
        "agent:spawn",
        "session:start",
        "session:end",
        "agent:complete",
        "session:end",
    ]
    outer, spawn, inner, _, complete, _ = (data for _, data in stage.heard.events)
    assert inner["parent_id"] == spawn["parent_session_id"] == outer["session_id"]
    assert (spawn["agent_name"], spawn["task"]) == ("worker", "Clean up.")
    assert complete["result"] == {"output": DONE}
    assert complete["status"] == "success"


async def test_a_sub_agent_can_be_refused(stage: Stage) -> None:
    """Its caller reads why; it has no session."""
    stage.answer("agent:spawn", HookResult(action="deny", reason="no help today"))
    stage.listen("session:start", "agent:complete")
    ran = await driver.run_with_helper(stage.hooks, HELP, use(call("wipe", path="/")))
    assert ran.calls == []
    assert "no help today" in ran.requests[-1]
    assert stage.heard.names == ["session:start"]


async def test_the_task_of_a_sub_agent_can_be_changed(stage: Stage) -> None:
    """It starts with another prompt, which is submitted like any other."""
    stage.answer(
        "agent:spawn",
        lambda data: HookResult(action="modify", data={**data, "task": "Polish."}),
    )
    stage.listen("prompt:submit", "provider:request")
    await driver.run_with_helper(stage.hooks, HELP, [DONE])
    prompts = [data["prompt"] for name, data in stage.heard.events if name == "prompt:submit"]
    assert prompts == ["Do it.", "Polish."]
    asked = [data["messages"] for name, data in stage.heard.events if name != "prompt:submit"]
    assert asked[1] == [{"role": "user", "content": "Polish."}]


async def test_a_task_has_to_be_a_text(stage: Stage) -> None:
    """What a hook leaves instead refuses the sub-agent."""
    stage.answer("agent:spawn", lambda data: HookResult(action="modify", data={**data, "task": 7}))
    ran = await driver.run_with_helper(stage.hooks, HELP, use(call("wipe", path="/")))
    assert ran.calls == []
    assert "it must be a text" in ran.requests[-1]

"""The toolset that hooks guard."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import CombinedToolset, FunctionToolset, RunContext, RunUsage, WrapperToolset
from pydantic_ai.models.test import TestModel

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks, RunRefused
from amplifier_hooks.frameworks.pydantic_ai.tools import Gate, GovernedToolset, leads_to
from amplifier_hooks.frameworks.pydantic_ai.turn import Turn
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver
from tests.adapters.stage import Stage, ask, call, use

build = PydanticAIDriver().build


async def test_calls_of_one_reply_are_asked_about_at_once(stage: Stage) -> None:
    """Nobody waits for a question about another call."""
    shown: list[Any] = []
    both = asyncio.Event()

    async def decide(question: ApprovalQuestion) -> str:
        shown.append(question.tool_input["path"])
        if len(shown) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 60)
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(decide, decide)
    ran = Ran()
    script = use(call("wipe", 1, path="/a"), call("wipe", 2, path="/b"))
    await build(stage.hooks, script, ran).run("Do it.")
    assert sorted(shown) == ["/a", "/b"]
    assert sorted(one["path"] for one in ran.ran("wipe")) == ["/a", "/b"]


async def test_tools_of_a_toolset_for_one_run_are_governed(stage: Stage) -> None:
    """Wherever the agent has a tool from."""
    stage.listen("tool:pre")
    toolset = FunctionToolset[None]()
    toolset.add_function(lambda: "now", name="clock")
    await build(stage.hooks, use(call("clock")), Ran()).run("Do it.", toolsets=[toolset])
    assert [data["tool_name"] for _, data in stage.heard.events] == ["clock"]


async def test_a_tool_that_is_called_outside_a_run_does_not_run(stage: Stage) -> None:
    """There is no session that could judge it."""
    ran: list[str] = []
    toolset = FunctionToolset[None]()
    toolset.add_function(lambda: ran.append("ran"), name="clock")
    governed = AmplifierHooks(stage.hooks).get_wrapper_toolset(toolset)
    assert governed is not None
    ctx = RunContext[None](deps=None, model=TestModel(), usage=RunUsage())
    tools = await governed.get_tools(ctx)
    with pytest.raises(RunRefused, match="not judged this run"):
        await governed.call_tool("clock", {}, ctx, tools["clock"])
    assert ran == []


def test_a_foreign_toolset_is_not_certain_to_pass_calls_on(stage: Stage) -> None:
    """Those of the framework are, and ours."""

    class Foreign(WrapperToolset[None]):
        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            return "something else"

    gate = Gate(Turn(stage.hooks), "inline")
    governed = GovernedToolset(FunctionToolset(), gate)
    combined = CombinedToolset([FunctionToolset(), governed.prefixed("my")])
    assert leads_to(gate, combined)
    assert leads_to(gate, GovernedToolset(combined, Gate(Turn(stage.hooks), "inline")))
    assert not leads_to(gate, Foreign(governed))
    assert not leads_to(gate, FunctionToolset())

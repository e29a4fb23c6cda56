"""Calls inside and outside of an invocation."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("strands")

from amplifier_apps.adapters.strands import AmplifierHooks
from amplifier_core import HookResult
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.strands import make_agent
from tests.adapters.stage import Stage, call, use

DENY = HookResult(action="deny", reason="against the rules")


def test_a_call_by_the_program_itself_is_judged(stage: Stage) -> None:
    """`agent.tool.name()` is a run of one call."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:start", "tool:post", "session:end")
    ran = Ran()
    agent = make_agent(ran, [], plugins=[AmplifierHooks(stage.hooks)])
    refused = agent.tool.wipe(path="/tmp/x")
    assert refused["status"] == "error"
    assert "against the rules" in str(refused["content"])
    assert agent.tool.note(text="a")["status"] == "success"
    assert ran.calls == [("note", {"text": "a"})]
    assert stage.heard.names == [
        "session:start",
        "session:end",
        "session:start",
        "tool:post",
        "session:end",
    ]


def test_a_call_whose_start_is_refused_runs_nothing(stage: Stage) -> None:
    """The result is the reason."""
    stage.answer("session:start", DENY)
    ran = Ran()
    agent = make_agent(ran, [], plugins=[AmplifierHooks(stage.hooks)])
    assert "against the rules" in str(agent.tool.wipe(path="/tmp/x"))
    assert ran.calls == []


async def test_a_tool_that_nobody_has_is_told(stage: Stage) -> None:
    """Hooks hear of a call that the model made up."""
    stage.listen("tool:pre", "tool:error")
    ran = Ran()
    agent = make_agent(ran, use(call("rocket", to="x")), plugins=[AmplifierHooks(stage.hooks)])
    await agent.invoke_async("Do it.")
    assert stage.heard.names == ["tool:error"]
    assert "rocket" in stage.heard.events[0][1]["error"]["message"]
    assert "Unknown tool: rocket" in ran.requests[-1]


async def test_calls_in_the_background_are_judged(stage: Stage) -> None:
    """They go on while the agent does, and pass the same hooks."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("tool:post")
    ran = Ran()
    script = use(call("wipe", 1, path="/"), call("note", 2, text="a"))
    agent = make_agent(
        ran,
        [*script, "Later.", "Later.", "Later."],
        background_tasks={"tools": {"wipe": "always", "note": "always"}},
        plugins=[AmplifierHooks(stage.hooks)],
    )
    await asyncio.wait_for(agent.invoke_async("Do it."), 60)
    assert ran.calls == [("note", {"text": "a"})]

"""Calls inside and outside of an invocation."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import Any

import pytest

pytest.importorskip("strands")

from strands import tool

from amplifier_core import HookResult
from amplifier_hooks.frameworks.strands import AmplifierHooks
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


class Counted:
    """A tool that waits in the background until the invocation is over."""

    def __init__(self) -> None:
        self.released, self.done = threading.Event(), threading.Event()

    def make(self) -> Any:
        """The tool."""

        @tool
        async def work() -> str:
            """Work for a while."""
            while not self.released.is_set():
                await asyncio.sleep(0.01)
            self.done.set()
            return "worked"

        return work


def run_in_background(stage: Stage, work: Counted) -> Ran:
    """An agent that starts the work in the background and answers."""
    ran = Ran()
    agent = make_agent(
        ran,
        use(call("work", _background_execution=True)),
        tools=[work.make()],
        background_tasks={"wait_for_completion": False},
        plugins=[AmplifierHooks(stage.hooks)],
    )
    agent("Do it.")
    return ran


def test_a_call_in_the_background_outlives_its_invocation(stage: Stage) -> None:
    """It is a run of its own: nothing of the invocation is needed for it to end."""
    heard: queue.SimpleQueue[str] = queue.SimpleQueue()

    async def hear(event: str, data: dict[str, Any]) -> HookResult:
        heard.put(event)
        return HookResult()

    for event in ("session:start", "tool:pre", "tool:post", "session:end"):
        stage.registry.register(event, hear, name="ears")
    work = Counted()
    run_in_background(stage, work)
    work.released.set()
    found = [heard.get(timeout=60) for _ in range(6)]
    assert work.done.is_set()
    assert found.count("session:start") == found.count("session:end") == 2
    assert found.index("tool:pre") < found.index("tool:post")


def test_a_call_in_the_background_is_denied(stage: Stage) -> None:
    """Before anything of it runs."""
    denied = threading.Event()

    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        denied.set()
        return DENY

    stage.registry.register("tool:pre", deny, name="policy")
    work = Counted()
    work.released.set()
    run_in_background(stage, work)
    assert denied.wait(60)
    assert not work.done.is_set()

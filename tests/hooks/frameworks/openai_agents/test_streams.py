"""Streamed runs: hooks first, and then the SDK's own stream."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    OutputGuardrail,
    Runner,
    RunResultStreaming,
    SQLiteSession,
    UserError,
    function_tool,
)
from agents.testing import ModelStep, ScriptedModel

from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.openai_agents import amplify, questions, settle
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, use


async def test_a_stream_can_be_looked_at_before_it_starts(stage: Stage) -> None:
    """Hooks judge the prompt first; afterwards the result is that of the SDK."""
    model = make_model([DONE])
    agent = amplify(Agent("agent", model=model), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", max_turns=3, run_config=CONFIG)
    assert isinstance(result, RunResultStreaming)
    assert (result.is_complete, result.final_output, result.max_turns) == (False, None, 3)
    assert result.current_agent is agent
    kinds = [event.type async for event in result.stream_events()]
    assert kinds[0] == "agent_updated_stream_event"
    assert result.is_complete
    assert result.final_output == DONE
    assert result.last_agent is agent
    assert len(result.new_items) == 1
    assert result.run_loop_exception is None


async def test_a_session_ends_before_its_stream_does(stage: Stage) -> None:
    """Who has read a stream to its end finds everything recorded."""
    stage.listen("session:end")
    agent = amplify(Agent("agent", model=make_model([DONE])), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    async for _ in result.stream_events():
        pass
    assert stage.heard.names == ["session:end"]


async def test_a_stream_that_nobody_reads_runs_all_the_same(stage: Stage) -> None:
    """As with the SDK alone."""
    ran = Ran()
    model = make_model(use(call("note", text="a")))
    agent = amplify(Agent("agent", tools=make_tools(ran), model=model), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    assert result.run_loop_task is not None
    await result.run_loop_task
    assert ran.calls == [("note", {"text": "a"})]
    assert result.final_output == DONE


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_cancelled_stream_ends_its_session(stage: Stage, at_once: bool) -> None:
    """Before it has started, and in the middle."""
    asked = asyncio.Event()
    stage.listen("session:end")

    @function_tool
    async def wait() -> str:
        asked.set()
        await asyncio.Event().wait()
        return ""

    agent = amplify(Agent("agent", tools=[wait], model=make_model(use(call("wait")))), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    if not at_once:
        await asyncio.wait_for(asked.wait(), 60)
    result.cancel()
    assert [event async for event in result.stream_events() if event.type == "x"] == []
    task: Any = result.run_loop_task
    await asyncio.wait([task], timeout=60)
    assert result.final_output is None
    assert stage.heard.names == ([] if at_once else ["session:end"])


async def test_a_stream_that_fails_raises(stage: Stage) -> None:
    """What the SDK raises in a run is raised to who reads the stream."""
    stage.listen("session:end")
    model = ScriptedModel([ModelStep.raise_error(OSError("no line"))])
    result = Runner.run_streamed(
        amplify(Agent("agent", model=model), stage.hooks), "Go.", run_config=CONFIG
    )
    with pytest.raises(OSError, match="no line"):
        async for _ in result.stream_events():
            pass
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]


async def test_what_is_wrong_with_a_call_is_raised_at_once(stage: Stage) -> None:
    """As with the SDK alone, and nothing starts."""
    agent = amplify(Agent("agent", model=make_model([DONE])), stage.hooks)
    stage.listen("session:start")
    session = SQLiteSession("one")
    with pytest.raises(UserError, match="conversation_id"):
        Runner.run_streamed(agent, "Go.", session=session, conversation_id="c")
    with pytest.raises(TypeError, match="Run hooks"):
        Runner.run_streamed(agent, "Go.", hooks="none")  # type: ignore[arg-type]
    agent.output_guardrails.append(OutputGuardrail(lambda *_: None))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="Output guardrails"):
        Runner.run_streamed(agent, "Go.", conversation_id="c")
    assert stage.heard.names == []
    session.close()


async def test_what_the_caller_holds_of_a_stream_is_what_fills(stage: Stage) -> None:
    """Lists that were taken before it started are not left behind."""
    agent = amplify(Agent("agent", model=make_model([DONE])), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    items = result.new_items
    async for _ in result.stream_events():
        pass
    assert items is result.new_items
    assert [one.type for one in items] == ["message_output_item"]


async def test_a_stream_that_goes_on_shows_at_once_how_far_it_had_come(stage: Stage) -> None:
    """As the SDK does; nothing is there twice afterwards."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    model = make_model(use(call("note", 1, text="a"), call("wipe", 2, path="/")))
    agent = Agent("agent", tools=make_tools(ran), model=model)
    amplify(agent, stage.hooks, asks="interrupt")
    first = await Runner.run(agent, "Go.", run_config=CONFIG)
    state = first.to_state()
    for item, payload in questions(first):
        settle(state, item, answer(payload, "Allow"))
    result = Runner.run_streamed(agent, state, run_config=CONFIG)
    shown = [one.type for one in result.new_items]
    assert shown.count("tool_call_item") == 2
    async for _ in result.stream_events():
        pass
    assert result.final_output == DONE
    assert [one.type for one in result.new_items].count("tool_call_item") == 2

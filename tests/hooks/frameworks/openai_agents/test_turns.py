"""Turns: what goes out of a run is judged once."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, MaxTurnsExceeded, ModelRefusalError, Runner, function_tool
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks.openai_agents import runner as amplify
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools
from tests.adapters.stage import DONE, Stage, call, use


class Total(BaseModel):
    """The output of an agent with an output type."""

    total: int


def say(text: str) -> Any:
    """A hook's answer: another answer."""
    return lambda data: HookResult(action="modify", data={**data, "response": text})


async def test_a_tool_result_that_is_the_answer_is_judged(stage: Stage) -> None:
    """With tool_use_behavior, no reply of the model is the answer."""
    stage.listen("prompt:answer")
    stage.answer("prompt:answer", say("noted [removed]"))
    agent = Agent(
        "agent",
        tools=make_tools(Ran()),
        model=make_model(use(call("note", text="4711"))),
        tool_use_behavior="stop_on_first_tool",
    )
    result = await Runner.run(amplify(agent, stage.hooks), "Go.", run_config=CONFIG)
    assert result.final_output == "noted [removed]"
    assert len(stage.heard.events) == 1


async def test_an_answer_that_is_no_text_is_kept_or_refused(stage: Stage) -> None:
    """A value of the application's own cannot be made of a text."""

    @function_tool
    def count() -> Total:
        return Total(total=7)

    stage.listen("prompt:answer")
    stage.answer("prompt:answer", say('{"total": 8}'))
    agent = Agent(
        "agent",
        tools=[count],
        model=make_model(use(call("count"))),
        output_type=Total,
        tool_use_behavior="stop_on_first_tool",
    )
    with pytest.raises(ModelRefusalError):
        await Runner.run(amplify(agent, stage.hooks), "Go.", run_config=CONFIG)
    assert stage.heard.events[0][1]["response"] == '{"total": 8}'


async def test_what_an_error_handler_says_is_judged(stage: Stage) -> None:
    """It goes out as any answer does."""
    stage.answer("prompt:answer", say("[removed]"))
    agent = Agent(
        "agent",
        tools=make_tools(Ran()),
        model=make_model([[call("note", 1, text="a")], [call("note", 2, text="b")], DONE]),
    )
    result = await Runner.run(
        amplify(agent, stage.hooks),
        "Go.",
        max_turns=1,
        run_config=CONFIG,
        error_handlers={"max_turns": lambda _: "It took too long."},
    )
    assert result.final_output == "[removed]"


async def test_a_run_that_raises_ends_its_session(stage: Stage) -> None:
    """With the reason that it is one."""
    stage.listen("session:end")
    agent = Agent("agent", tools=make_tools(Ran()), model=make_model(use(call("note", text="a"))))
    with pytest.raises(MaxTurnsExceeded):
        await Runner.run(amplify(agent, stage.hooks), "Go.", max_turns=1, run_config=CONFIG)
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]

"""What a caller gets of a run that hooks refused."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import AgentRunError

from amplifier_core import HookResult
from amplifier_hooks.frameworks.pydantic_ai import RunRefused
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver
from tests.adapters.stage import DONE, Stage

build = PydanticAIDriver().build
REASON = "Operation denied by policy: against the rules"


class Answer(BaseModel):
    """No text."""

    number: int


def refuse_second(data: dict[str, Any]) -> HookResult:
    """Deny one prompt."""
    if data["prompt"] == "Two.":
        return HookResult(action="deny", reason="against the rules")
    return HookResult()


async def test_a_refused_run_has_the_conversation_as_it_was(stage: Stage) -> None:
    """Who goes on from its messages has lost nothing, and the refused prompt is not among them."""
    stage.answer("prompt:submit", refuse_second)
    ran = Ran()
    agent = build(stage.hooks, [DONE, DONE], ran)
    first = await agent.run("One.")
    refused = await agent.run("Two.", message_history=first.all_messages())
    assert refused.output == REASON
    assert refused.all_messages() == first.all_messages()
    assert refused.new_messages() == []
    await agent.run("Three.", message_history=refused.all_messages())
    assert "One." in ran.requests[-1]
    assert "Two." not in ran.requests[-1]


@pytest.mark.parametrize("wanted", [str | Answer, [str, Answer], str])
async def test_an_agent_that_may_answer_with_a_text_answers_the_reason(
    stage: Stage, wanted: Any
) -> None:
    """However its output type says so."""
    stage.answer("prompt:submit", refuse_second)
    agent = build(stage.hooks, [DONE], Ran(), output_type=wanted)
    assert (await agent.run("Two.")).output == REASON


async def test_any_other_agent_raises_it(stage: Stage) -> None:
    """As an error of the framework's own kind, which callers catch already."""
    stage.answer("prompt:submit", refuse_second)
    agent = build(stage.hooks, [DONE], Ran(), output_type=Answer)
    with pytest.raises(AgentRunError) as caught:
        await agent.run("Two.")
    assert isinstance(caught.value, RunRefused)
    assert str(caught.value) == REASON


async def test_nodes_of_a_refused_run_do_nothing(stage: Stage) -> None:
    """Also if the caller drives them by hand."""
    stage.answer("prompt:submit", refuse_second)
    ran = Ran()
    async with build(stage.hooks, [DONE], ran).iter("Two.") as run:
        first: Any = run.next_node
        second = await first.run(run.ctx)
        with pytest.raises(RunRefused, match="against the rules"):
            await second.run(run.ctx)
    assert ran.requests == []

"""Requests to a model and its replies."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import ModelHTTPError
from pydantic_ai.capabilities import AbstractCapability, ModelFallback
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, FunctionModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks, RunRefused
from tests.adapters.drivers.driver import Call, Ran, Step
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver, Script, describe
from tests.adapters.stage import DONE, Stage, call, use

build = PydanticAIDriver().build
DENY = HookResult(action="deny", reason="against the rules")
LASTING = HookResult(action="inject_context", context_injection="It is Monday.")


class Answer(BaseModel):
    """No text."""

    number: int


async def test_instructions_are_a_message_that_hooks_can_change(stage: Stage) -> None:
    """The model gets the new ones; the messages keep the agent's own."""

    def change(data: dict[str, Any]) -> HookResult:
        first, *rest = data["messages"]
        assert first == {"role": "system", "content": "Be brief."}
        messages = [{**first, "content": "Be kind."}, *rest]
        return HookResult(action="modify", data={**data, "messages": messages})

    stage.answer("provider:request", change)
    ran = Ran()
    agent = build(stage.hooks, [DONE], ran, instructions="Be brief.")
    result = await agent.run("Do it.")
    assert ran.requests[0].startswith("Be kind.\n")
    assert result.all_messages()[0].instructions == "Be brief."  # type: ignore[union-attr]


async def test_a_lasting_injection_is_part_of_the_messages(stage: Stage) -> None:
    """A run that continues from them has it, once."""
    stage.answer("prompt:submit", LASTING)
    ran = Ran()
    agent = build(stage.hooks, [DONE, DONE], ran)
    first = await agent.run("One.")
    assert "It is Monday." in describe(first.new_messages())
    stage.registry.unregister("policy")
    await agent.run("Two.", message_history=first.all_messages())
    assert [request.count("It is Monday.") for request in ran.requests] == [1, 1]


async def test_an_ephemeral_injection_is_not(stage: Stage) -> None:
    """It was for one request."""
    once = LASTING.model_copy(update={"ephemeral": True})
    stage.answer("provider:request", once)
    ran = Ran()
    result = await build(stage.hooks, [DONE], ran).run("One.")
    assert "It is Monday." in ran.requests[0]
    assert "It is Monday." not in describe(result.all_messages())


async def test_every_attempt_is_judged_and_has_the_injection_once(stage: Stage) -> None:
    """Another model is asked after the first one failed."""
    stage.answer("prompt:submit", LASTING)
    stage.listen("provider:request")
    ran = Ran()

    def fail(messages: list[ModelMessage], info: AgentInfo) -> Any:
        ran.requests.append(describe(messages))
        raise ModelHTTPError(500, "broken")

    good = Script(use(call("note", text="a")), ran).model
    both = [AmplifierHooks(stage.hooks), ModelFallback(good)]
    agent = build(stage.hooks, [], ran, capabilities=both)
    result = await agent.run("Do it.", model=FunctionModel(fail))
    assert [request.count("It is Monday.") for request in ran.requests] == [1, 1, 1, 1]
    assert describe(result.all_messages()).count("It is Monday.") == 1
    assert len(stage.heard.events) == 4


class Watch(AbstractCapability[Any]):
    """Keeps the messages as the framework made them, and as they went out."""

    def __init__(self) -> None:
        self.made: list[Any] = []
        self.sent: list[Any] = []

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        self.made = list(request_context.messages)
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        self.sent = list(request_context.messages)
        return response


async def test_what_hooks_leave_alone_are_the_frameworks_own_objects(stage: Stage) -> None:
    """Nothing is copied."""
    stage.listen("provider:request", "provider:response")
    watch = Watch()
    both = [watch, AmplifierHooks(stage.hooks)]
    await build(stage.hooks, [DONE], Ran(), capabilities=both).run("Do it.")
    assert len(watch.made) == 1
    assert watch.sent[0] is watch.made[0]


@pytest.mark.parametrize("event", ["provider:request", "provider:response"])
async def test_an_agent_that_answers_no_text_raises_the_reason(stage: Stage, event: str) -> None:
    """Instead of asking the model again for an output of its type."""
    stage.answer(event, DENY)
    ran = Ran()
    script: list[Step] = [[Call("final_result", {"number": 1})]] * 3
    with pytest.raises(RunRefused, match="against the rules"):
        await build(stage.hooks, script, ran, output_type=Answer).run("Do it.")
    assert len(ran.requests) == (1 if event == "provider:response" else 0)


async def test_what_a_reply_costs_is_told(stage: Stage) -> None:
    """With the names that budgets read."""
    stage.listen("provider:response")
    await build(stage.hooks, [DONE], Ran()).run("Do it.")
    usage = stage.heard.events[0][1]["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0

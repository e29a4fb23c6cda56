"""Tool calls: what hooks see of them, and what runs."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel, SecretStr
from pydantic_ai import (
    Agent,
    CallDeferred,
    DeferredToolRequests,
    ModelRetry,
    RunContext,
    ToolFailed,
)
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ToolReturnPart

from amplifier_core import HookResult
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks
from tests.adapters.drivers.driver import Call, Ran, Step
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver
from tests.adapters.stage import DONE, Stage, call, change_input, use

build = PydanticAIDriver().build


class Address(BaseModel):
    """What a tool takes."""

    street: str
    number: int = 1


SEND = use(Call("send", {"to": {"street": "Elm", "number": "7"}, "key": "k"}))


def add_send(agent: Agent[Any], got: list[Any]) -> None:
    """A tool that takes objects."""

    @agent.tool_plain
    def send(to: Address, key: SecretStr, copies: int = 1) -> Address:
        got.append((to, key.get_secret_value(), copies))
        return to


async def run(stage: Stage, script: list[Step], got: list[Any], **options: Any) -> Any:
    """Run an agent with that tool; returns the result of the call as the framework keeps it."""
    agent = build(stage.hooks, script, Ran(), **options)
    add_send(agent, got)
    return find_return(await agent.run("Do it."))


def find_return(result: Any) -> ToolReturnPart:
    """The first tool return in the messages."""
    parts = [part for message in result.all_messages() for part in message.parts]
    found: ToolReturnPart = next(one for one in parts if isinstance(one, ToolReturnPart))
    return found


async def test_hooks_see_the_json_that_the_model_wrote(stage: Stage) -> None:
    """Not the objects, and not their defaults; of the result, the JSON of the object."""
    stage.listen("tool:pre", "tool:post")
    got: list[Any] = []
    kept = await run(stage, SEND, got)
    pre, post = (data for _, data in stage.heard.events)
    assert pre["tool_input"] == {"to": {"street": "Elm", "number": "7"}, "key": "k"}
    assert post["tool_result"]["output"] == {"street": "Elm", "number": 7}
    assert got == [(Address(street="Elm", number=7), "k", 1)]
    assert kept.content is got[0][0]


async def test_changed_json_becomes_objects_by_the_tools_own_validator(stage: Stage) -> None:
    """The tool gets its own types, defaults included."""
    stage.answer("tool:pre", change_input(to={"street": "Oak"}))
    got: list[Any] = []
    await run(stage, SEND, got)
    assert got == [(Address(street="Oak", number=1), "k", 1)]


async def test_what_the_tool_does_not_take_is_explained(stage: Stage) -> None:
    """The model reads which value and why, and no retry is spent on it."""
    stage.answer("tool:pre", change_input(to={"road": "Oak"}))
    stage.listen("tool:error")
    got: list[Any] = []
    kept = await run(stage, SEND, got)
    assert got == []
    assert kept.outcome == "failed"
    assert '{"road":"Oak"}' in str(kept.content)
    assert "to.street: Field required" in str(kept.content)
    assert stage.heard.names == ["tool:error"]


async def test_changed_json_is_shown_to_the_tools_args_validator(stage: Stage) -> None:
    """It may still reject what a hook wrote."""
    stage.answer("tool:pre", change_input(text="forbidden"))
    agent = build(stage.hooks, use(call("say", text="fine")), ran := Ran())

    async def check(ctx: RunContext[Any], text: str) -> None:
        if text == "forbidden":
            raise ModelRetry("not that")

    @agent.tool_plain(args_validator=check)
    def say(text: str) -> str:
        ran.calls.append(("say", {"text": text}))
        return text

    await agent.run("Do it.")
    assert ran.calls == []
    assert "not that" in ran.requests[-1]


class PutObject(AbstractCapability[Any]):
    """Puts an object into the arguments that JSON cannot carry."""

    async def before_tool_execute(self, ctx: Any, *, args: Any, **_: Any) -> Any:
        return {**args, "key": SecretStr("from the vault")}


async def test_objects_of_another_capability_are_shown_as_json_and_run_as_they_are(
    stage: Stage,
) -> None:
    """Hooks see what will run, as far as JSON can say it."""
    stage.listen("tool:pre")
    got: list[Any] = []
    await run(stage, SEND, got, capabilities=[*driver_capabilities(stage), PutObject()])
    assert stage.heard.events[0][1]["tool_input"]["key"] == "**********"
    assert got[0][1] == "from the vault"


async def test_such_objects_cannot_be_changed(stage: Stage) -> None:
    """Nothing runs, rather than something that nobody meant."""
    stage.answer("tool:pre", change_input(copies=2))
    got: list[Any] = []
    more = [*driver_capabilities(stage), PutObject()]
    kept = await run(stage, SEND, got, capabilities=more)
    assert got == []
    assert "JSON cannot hold" in str(kept.content)


def driver_capabilities(stage: Stage) -> list[Any]:
    """Ours."""
    return [AmplifierHooks(stage.hooks)]


async def test_a_denial_is_one_in_the_messages(stage: Stage) -> None:
    """Programs that show a conversation can tell it from a failure."""
    stage.answer("tool:pre", HookResult(action="deny", reason="against the rules"))
    kept = await run(stage, SEND, [])
    assert kept.outcome == "denied"
    assert kept.content == "Operation denied by policy: against the rules"


@pytest.mark.parametrize("error", [ModelRetry("once more"), ToolFailed("no such street")])
async def test_what_a_tool_raises_for_the_model_is_told_and_passes(
    stage: Stage, error: Exception
) -> None:
    """The framework makes of it what it always does."""
    stage.listen("tool:error", "tool:post")
    agent = build(stage.hooks, use(call("fail")), ran := Ran())

    @agent.tool_plain
    def fail() -> str:
        raise error

    await agent.run("Do it.")
    assert stage.heard.names == ["tool:error"]
    assert stage.heard.events[0][1]["error"]["type"] == type(error).__name__
    assert str(error) in ran.requests[-1]


async def test_a_call_that_the_tool_defers_has_not_failed(stage: Stage) -> None:
    """The framework pauses the run with it."""
    stage.listen("tool:error", "tool:post")
    wanted = [str, DeferredToolRequests]
    agent = build(stage.hooks, use(call("later")), Ran(), output_type=wanted)

    @agent.tool_plain
    def later() -> str:
        raise CallDeferred(metadata={"ticket": 7})

    result = await agent.run("Do it.")
    assert isinstance(result.output, DeferredToolRequests)
    assert result.output.metadata == {"call_1": {"ticket": 7}}
    assert stage.heard.names == []


async def test_hooks_do_not_see_output_tools(stage: Stage) -> None:
    """They carry the answer, which hooks judge as such."""
    stage.listen("tool:pre", "prompt:answer")
    script: list[Step] = [[Call("final_result", {"street": "Elm"})], DONE]
    await build(stage.hooks, script, Ran(), output_type=Address).run("Do it.")
    assert stage.heard.names == ["prompt:answer"]
    assert stage.heard.events[0][1]["response"] == '{"street":"Elm","number":1}'

"""Text that a caller reads while the model writes it."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import AgentRunResultEvent

from amplifier_core import HookResult
from amplifier_hooks.frameworks.pydantic_ai import RunRefused
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver, describe
from tests.adapters.stage import DONE, Stage, call, use

driver = PydanticAIDriver()
DENY = HookResult(action="deny", reason="against the rules")
EVENTS = ("provider:response", "prompt:answer")


def change(data: dict[str, Any]) -> HookResult:
    """Another text."""
    text: Any = "Nearly."
    if "prompt" not in data:
        text = {**data["response"], "content": [{"type": "text", "text": "Nearly."}]}
    return HookResult(action="modify", data={**data, "response": text})


@pytest.mark.parametrize("event", EVENTS)
async def test_a_denial_of_what_was_streamed_is_raised(stage: Stage, event: str) -> None:
    """A result would look as if nobody had read it."""
    stage.answer(event, DENY)
    stage.listen("session:end")
    with pytest.raises(RunRefused, match="against the rules"):
        await driver.stream(stage.hooks, [DONE])
    assert stage.heard.names == ["session:end"]


@pytest.mark.parametrize("event", EVENTS)
async def test_a_change_of_what_was_streamed_is_told(stage: Stage, event: str) -> None:
    """On the screen and in the trail: the stream had what the model wrote."""
    stage.answer(event, change)
    ran = await driver.stream(stage.hooks, [DONE])
    assert "".join(ran.pieces) == DONE
    warned = [text for text, level, _ in stage.display.messages if level == "warning"]
    assert len(warned) == 1
    assert event in warned[0]
    assert [one["body"]["what"] for one in stage.of_type("error")] == ["streaming"]


@pytest.mark.parametrize("event", EVENTS)
async def test_a_change_is_in_the_result_where_there_is_one(stage: Stage, event: str) -> None:
    """Events are streamed, then comes the result, with the messages."""
    stage.answer(event, change)
    async with driver.build(stage.hooks, [DONE], Ran()).run_stream_events("Do it.") as events:
        *_, last = [one async for one in events]
    assert isinstance(last, AgentRunResultEvent)
    assert last.result.output == "Nearly."
    assert DONE not in describe(last.result.all_messages())


async def test_hooks_know_that_the_answer_was_streamed(stage: Stage) -> None:
    """And when it was not."""
    stage.listen("prompt:answer")

    async def read(ctx: Any, events: AsyncIterable[Any]) -> None:
        async for _ in events:
            pass

    await driver.build(stage.hooks, [DONE], Ran()).run("Do it.", event_stream_handler=read)
    await driver.run(stage.hooks, [DONE])
    assert [data["streamed"] for _, data in stage.heard.events] == [True, False]


async def test_a_denied_reply_with_calls_ends_the_stream_with_the_reason(stage: Stage) -> None:
    """Nobody has read anything yet, and the calls do not run."""
    stage.answer("provider:response", DENY)
    ran = Ran()
    agent = driver.build(stage.hooks, use(call("wipe", path="/")), ran)
    async with agent.run_stream("Do it.") as result:
        assert "against the rules" in await result.get_output()
    assert ran.calls == []


async def test_a_refused_request_streams_the_reason(stage: Stage) -> None:
    """The model is not called."""
    stage.answer("provider:request", DENY)
    ran = await driver.stream(stage.hooks, [DONE])
    assert ran.requests == []
    assert "against the rules" in "".join(ran.pieces)


def test_a_stream_without_a_loop_is_governed(stage: Stage) -> None:
    """`run_stream_sync`."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:end")
    ran = Ran()
    agent = driver.build(stage.hooks, use(call("wipe", path="/")), ran)
    with agent.run_stream_sync("Do it.") as result:
        assert "".join(result.stream_text(delta=True)) == DONE
    assert ran.calls == []
    assert stage.heard.names == ["session:end"]

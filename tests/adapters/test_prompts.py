"""Prompts, requests, replies and answers of every framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_core import HookResult
from tests.adapters.drivers.driver import Driver
from tests.adapters.stage import DONE, Stage, attempt, call, use

DENY = HookResult(action="deny", reason="against the rules")


def change(key: str, value: Any) -> Callable[[dict[str, Any]], HookResult]:
    """A hook's answer: another value of one field."""
    return lambda data: HookResult(action="modify", data={**data, key: value})


async def test_a_prompt_is_seen(driver: Driver, stage: Stage) -> None:
    """Hooks get the prompt before the model does."""
    stage.listen("prompt:submit", "provider:request")
    await driver.run(stage.hooks, [DONE], "Buy milk.")
    assert stage.heard.names[0] == "prompt:submit"
    assert "Buy milk." in stage.heard.events[0][1]["prompt"]


async def test_a_denied_prompt_reaches_no_model(driver: Driver, stage: Stage) -> None:
    """The caller reads why."""
    stage.answer("prompt:submit", DENY)
    ran, error = await attempt(driver.run(stage.hooks, [DONE], "Buy milk."))
    assert ran.requests == []
    assert "against the rules" in (ran.answer if error is None else str(error))


async def test_a_prompt_is_changed(driver: Driver, stage: Stage) -> None:
    """The model gets what a hook made of the prompt."""
    stage.answer("prompt:submit", change("prompt", "Buy oat milk."))
    ran = await driver.run(stage.hooks, [DONE], "Buy milk.")
    assert "Buy oat milk." in ran.requests[0]
    assert "Buy milk." not in ran.requests[0]


async def test_a_request_is_seen(driver: Driver, stage: Stage) -> None:
    """Hooks see each request: the conversation and the tools."""
    stage.listen("provider:request")
    await driver.run(stage.hooks, use(call("note", text="milk")), "Buy milk.")
    first, second = (data for _, data in stage.heard.events)
    assert "Buy milk." in str(first["messages"])
    assert "note" in str(first["tools"])
    assert "noted milk" in str(second["messages"])
    assert [first["iteration"], second["iteration"]] == [1, 2]


async def test_a_denied_request_reaches_no_model(driver: Driver, stage: Stage) -> None:
    """The model is not called, and the turn ends with the reason."""
    stage.answer("provider:request", DENY)
    ran, error = await attempt(driver.run(stage.hooks, [DONE]))
    assert ran.requests == []
    assert "against the rules" in (ran.answer if error is None else str(error))


async def test_a_request_is_changed(driver: Driver, stage: Stage) -> None:
    """The model gets the messages that a hook left, and the conversation stays as it was."""

    def clean(data: dict[str, Any]) -> HookResult:
        def replace(message: dict[str, Any]) -> dict[str, Any]:
            return {**message, "content": str(message["content"]).replace("4711", "[number]")}

        messages = [
            replace(one) if "4711" in str(one.get("content")) else one for one in data["messages"]
        ]
        return HookResult(action="modify", data={**data, "messages": messages})

    stage.answer("provider:request", clean)
    ran = await driver.run(stage.hooks, use(call("note", text="milk")), "My PIN is 4711.")
    assert len(ran.requests) == 2
    for request in ran.requests:
        assert "My PIN is [number]." in request
        assert "4711" not in request
    assert ran.calls == [("note", {"text": "milk"})]


async def test_a_reply_is_seen(driver: Driver, stage: Stage) -> None:
    """Hooks see what the model said and which tools it wants."""
    stage.listen("provider:response")
    await driver.run(stage.hooks, use(call("note", text="milk")))
    first, second = (data["response"] for _, data in stage.heard.events)
    assert first["tool_calls"][0]["name"] == "note"
    assert first["tool_calls"][0]["arguments"] == {"text": "milk"}
    assert second["content"][0]["text"] == DONE


async def test_a_denied_reply_ends_the_turn(driver: Driver, stage: Stage) -> None:
    """Nobody gets the reply, and the tools it wanted do not run."""
    stage.answer("provider:response", DENY)
    ran, error = await attempt(driver.run(stage.hooks, use(call("wipe", path="/"))))
    assert ran.calls == []
    assert len(ran.requests) <= 1
    assert "against the rules" in (ran.answer if error is None else str(error))


async def test_a_reply_is_changed(driver: Driver, stage: Stage) -> None:
    """Another text goes on."""

    def rewrite(data: dict[str, Any]) -> HookResult:
        response = {**data["response"], "content": [{"type": "text", "text": "Nearly done."}]}
        return HookResult(action="modify", data={**data, "response": response})

    stage.answer("provider:response", rewrite)
    ran = await driver.run(stage.hooks, [DONE])
    assert ran.answer == "Nearly done."


async def test_a_call_in_a_reply_is_changed(driver: Driver, stage: Stage) -> None:
    """Another tool call than the model wanted runs."""

    def rewrite(data: dict[str, Any]) -> HookResult:
        calls = [
            {**one, "arguments": {"text": "oat milk"}}
            for one in data["response"].get("tool_calls") or ()
        ]
        response = {**data["response"], "tool_calls": calls or None}
        return HookResult(action="modify", data={**data, "response": response})

    stage.answer("provider:response", rewrite)
    ran = await driver.run(stage.hooks, use(call("note", text="milk")))
    assert ran.calls == [("note", {"text": "oat milk"})]


async def test_an_answer_is_seen(driver: Driver, stage: Stage) -> None:
    """Hooks judge the answer before it goes out, then hear that it is complete."""
    stage.listen("prompt:answer", "prompt:complete")
    await driver.run(stage.hooks, [DONE], "Buy milk.")
    assert stage.heard.names == ["prompt:answer", "prompt:complete"]
    assert stage.heard.events[0][1]["response"] == DONE


async def test_a_denied_answer_stays_inside(driver: Driver, stage: Stage) -> None:
    """The caller gets the reason instead."""
    stage.answer("prompt:answer", DENY)
    ran, error = await attempt(driver.run(stage.hooks, [DONE]))
    said = ran.answer if error is None else str(error)
    assert "against the rules" in said
    assert DONE not in said


async def test_an_answer_is_changed(driver: Driver, stage: Stage) -> None:
    """The caller gets what a hook left."""
    stage.answer("prompt:answer", change("response", "Nearly done."))
    ran = await driver.run(stage.hooks, [DONE])
    assert ran.answer == "Nearly done."


async def test_a_stream_is_governed(driver: Driver, stage: Stage) -> None:
    """While text streams, calls are denied and changed as elsewhere, and hooks see the reply."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("tool:pre", "prompt:submit")
    script = use(call("note", 1, text="milk"), call("wipe", 2, path="/"))
    ran = await driver.stream(stage.hooks, script)
    assert ran.calls == [("note", {"text": "milk"})]
    assert "against the rules" in ran.requests[-1]
    assert DONE in "".join(ran.pieces)
    assert stage.heard.names[0] == "prompt:submit"


async def test_a_denied_prompt_streams_nothing(driver: Driver, stage: Stage) -> None:
    """A stream that is refused has the reason, or ends with it."""
    stage.answer("prompt:submit", DENY)
    ran, error = await attempt(driver.stream(stage.hooks, [DONE]))
    assert ran.requests == []
    said = "".join(ran.pieces) + ran.answer if error is None else str(error)
    assert "against the rules" in said
    assert DONE not in said

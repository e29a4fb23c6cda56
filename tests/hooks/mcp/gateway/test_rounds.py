"""Calls for which a server wants to know more first."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.models import HookResult
from amplifier_hooks.mcp.gateway import rounds
from tests.support.gateway import MODERN, Wire, open_wire, say

ELICIT = "mcp__srv__elicitation/create"
QUESTION = {"method": "elicitation/create", "params": {"message": "Which?", "mode": "form"}}
DENY = HookResult(action="deny", reason="no")


def want(state: str | None = "s", **requests: Any) -> dict[str, Any]:
    mark = {} if state is None else {"requestState": state}
    return {"resultType": "input_required", "inputRequests": requests, **mark}


async def begin(wire: Wire, interim: dict[str, Any]) -> dict[str, Any]:
    """Call a tool whose server wants to know something; what the client is asked."""
    wire.ask(1, name="book", arguments={"to": "Rome"}, _meta=MODERN)
    await wire.server.wait_for(1)
    wire.answer(1, interim)
    result: dict[str, Any] = (await wire.client.wait_for(1))[0]["result"]
    return result


def find_mark(wire: Wire) -> str:
    """What the client has to repeat."""
    return str(wire.client.read()[0]["result"]["requestState"])


def go_on(wire: Wire, id: Any, responses: dict[str, Any], state: str = "") -> None:
    more: dict[str, Any] = {"inputResponses": responses, "requestState": state or find_mark(wire)}
    wire.ask(id, name="book", arguments={"to": "Rome"}, _meta=MODERN, **more)


def count(wire: Wire, tool: str) -> list[str]:
    """The events of a tool, in their order."""
    records = wire.coordinator.recorded.records
    return [
        str(one["event"])
        for one in records
        if one["type"] == "dispatch" and one["body"]["data"].get("tool_name") == tool
    ]


async def test_a_call_in_two_rounds_is_one_call_for_hooks(tmp_path: Path) -> None:
    """The question of the server is another, inside of it; all four sides see what they should."""
    async with open_wire(tmp_path) as wire:
        wire.on("tool:pre", HookResult())
        wire.on("tool:post", HookResult())
        asked = await begin(wire, want(where=QUESTION))
        assert asked == {**want(where=QUESTION), "requestState": find_mark(wire)}
        go_on(wire, 2, {"where": {"action": "accept", "content": {"x": "A"}}})
        again = (await wire.server.wait_for(2))[1]
        assert again["params"]["requestState"] == "s"
        assert again["id"] == 2
        assert again["params"]["inputResponses"]["where"]["content"] == {"x": "A"}
        wire.answer(2, say("booked"))
        last = (await wire.client.wait_for(2))[1]
        assert (last["id"], last["result"]) == (2, say("booked"))
        assert count(wire, "mcp__srv__book") == ["tool:pre", "tool:post"]
        assert count(wire, ELICIT) == ["tool:pre", "tool:post"]


async def test_what_hooks_changed_stays_changed_in_the_next_round(tmp_path: Path) -> None:
    """The client does not know of it; the question and its answer can be changed as well."""
    async with open_wire(tmp_path) as wire:

        def change(data: dict[str, Any]) -> HookResult:
            if data["tool_name"] == ELICIT:
                return HookResult(action="modify", data={**data, "tool_input": {"message": "ok?"}})
            return HookResult(action="modify", data={**data, "tool_input": {"to": "Oslo"}})

        def mask(data: dict[str, Any]) -> HookResult:
            if data["tool_name"] != ELICIT:
                return HookResult()
            left = {"success": True, "output": {"action": "accept", "content": {"x": "*"}}}
            return HookResult(action="modify", data={**data, "tool_result": left})

        wire.on("tool:pre", change)
        wire.on("tool:post", mask)
        asked = await begin(wire, want(where=QUESTION))
        assert asked["inputRequests"]["where"]["params"] == {"message": "ok?"}
        go_on(wire, 2, {"where": {"action": "accept", "content": {"x": "secret"}}})
        again = (await wire.server.wait_for(2))[1]["params"]
        assert again["arguments"] == {"to": "Oslo"}
        assert again["inputResponses"]["where"]["content"] == {"x": "*"}


async def test_a_question_that_hooks_do_not_allow_is_declined(tmp_path: Path) -> None:
    """The client never sees it; the server goes on without an answer."""
    async with open_wire(tmp_path) as wire:
        wire.on("tool:pre", DENY, ELICIT)
        wire.ask(1, name="book", arguments={"to": "Rome"}, _meta=MODERN)
        await wire.server.wait_for(1)
        wire.answer(1, want(where=QUESTION))
        again = (await wire.server.wait_for(2))[1]
        assert again["params"]["inputResponses"] == {"where": {"action": "decline"}}
        assert again["params"]["requestState"] == "s"
        wire.answer(1, say("not booked"))
        assert [one["result"] for one in await wire.client.wait_for(1)] == [say("not booked")]


async def test_a_request_for_a_model_that_hooks_do_not_allow_ends_the_call(tmp_path: Path) -> None:
    """There is no answer that a server could be given."""
    async with open_wire(tmp_path) as wire:
        wire.on("tool:pre", DENY, "mcp__srv__sampling/createMessage")
        sample = {"method": "sampling/createMessage", "params": {"messages": []}}
        asked = await begin(wire, want(a=QUESTION, b=sample))
        assert asked["isError"]
        assert "Operation denied by policy: no" in asked["content"][0]["text"]
        assert len(wire.server.written) == 1


async def test_what_hooks_do_not_judge_is_asked_unchanged(tmp_path: Path) -> None:
    """The client's folders, for one, and whatever comes in later protocols."""
    async with open_wire(tmp_path) as wire:
        roots = {"method": "roots/list"}
        assert (await begin(wire, want(None, r=roots)))["inputRequests"] == {"r": roots}
        go_on(wire, 2, {"r": {"roots": []}})
        again = (await wire.server.wait_for(2))[1]["params"]
        assert "requestState" not in again
        assert again["inputResponses"] == {"r": {"roots": []}}


async def test_nobody_goes_on_with_a_call_that_is_not_open(tmp_path: Path) -> None:
    """Neither with other arguments, nor with the server's own state, nor twice."""
    async with open_wire(tmp_path) as wire:
        await begin(wire, want(where=QUESTION))
        go_on(wire, 2, {}, "s")
        mark = find_mark(wire)
        wire.ask(3, name="book", arguments={"to": "Oslo"}, inputResponses={}, requestState=mark)
        for one in (await wire.client.wait_for(3))[1:]:
            assert "does not know" in one["result"]["content"][0]["text"]
        assert len(wire.server.written) == 1
        go_on(wire, 4, {"where": {"action": "cancel"}})
        await wire.server.wait_for(2)
        go_on(wire, 5, {"where": {"action": "cancel"}})
        assert (await wire.client.wait_for(4))[3]["result"]["isError"]


async def test_the_oldest_call_is_given_up_when_too_many_wait(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """A client that never comes back costs nothing for ever."""
    monkeypatch.setattr(rounds, "MOST_OPEN", 2)
    async with open_wire(tmp_path) as wire:
        for id in range(3):
            wire.ask(id, name="book", arguments={"n": id}, _meta=MODERN)
            await wire.server.wait_for(id + 1)
            wire.answer(id, want(where=QUESTION))
            await wire.client.wait_for(id + 1)
        async with asyncio.timeout(30):
            while len(wire.relay._tasks) > 2:
                await asyncio.sleep(0)


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_a_call_whose_client_does_not_come_back_ends(
    is_cancelled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it says so, or after a long time; nobody is asked for it any more, or told."""
    monkeypatch.setattr(rounds, "LONGEST_WAIT", 3600 if is_cancelled else 0.01)
    async with open_wire(tmp_path) as wire:
        await begin(wire, want(where=QUESTION))
        if is_cancelled:
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
            wire.client.put({**note, "params": {"requestId": 1}})
        async with asyncio.timeout(30):
            while wire.relay._tasks:
                await asyncio.sleep(0.001)
        go_on(wire, 2, {"where": {"action": "cancel"}})
        refused = (await wire.client.wait_for(2))[1]
        assert "does not know" in refused["result"]["content"][0]["text"]
        assert (len(wire.client.written), len(wire.server.written)) == (2, 1)

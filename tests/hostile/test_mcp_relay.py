"""A hostile server or client at the gateway: what a model reads, hooks have seen."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.models import HookResult
from tests.support.gateway import MODERN, Wire, open_wire, say

SECRET = "the-unseen-text"
SAMPLING = {"method": "sampling/createMessage", "params": {"messages": [SECRET]}}
ASKING = {"resultType": "input_required", "inputRequests": {"a": SAMPLING}}
ENCODED = base64.b64encode(SECRET.encode()).decode()


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said, **more}]}


class Watch:
    """Notes what hooks see at a relay."""

    def __init__(self, wire: Wire) -> None:
        self.seen: list[dict[str, Any]] = []
        for event in ("tool:pre", "tool:post", "tool:error", "mcp:list"):
            wire.on(event, self._note, name=f"watch-{event}")

    def _note(self, data: dict[str, Any]) -> HookResult:
        self.seen.append(data)
        return HookResult()

    def saw(self, said: str) -> bool:
        return said in json.dumps(self.seen, default=str)


RESULTS = {
    "content beside questions": ("tools/call", {"resultType": "input_required", **text(SECRET)}),
    "a key twice in a text": (
        "tools/call",
        {**text(f'{{"a": "{SECRET}", "a": 1}}'), "structuredContent": {"a": 1}},
    ),
    "digits behind a number": (
        "tools/call",
        {**text("0.1000000000000000000000004111111"), "structuredContent": {"result": 0.1}},
    ),
    "a value called data": ("tools/call", {"structuredContent": {"data": SECRET}}),
    "a value called blob": ("tools/call", {"content": {"uri": "", "blob": SECRET}}),
    "a title of a text": ("tools/call", text("fine", title=SECRET)),
    "an unknown key": ("tools/call", {**text("fine"), "toolResult": SECRET}),
    "questions in a list": ("resources/list", ASKING),
    "questions in what nobody judges": ("completion/complete", ASKING),
    "questions in a complete result": ("tools/call", {**text("fine"), **ASKING, "resultType": ""}),
    "the result of a task": ("tasks/get", {"status": "completed", "result": text(SECRET)}),
    "questions of a task": ("tasks/get", {"status": "input_required", **ASKING, "resultType": ""}),
    "a name for itself": ("initialize", {"serverInfo": {"name": "x", "description": SECRET}}),
}


@pytest.mark.parametrize("case", RESULTS)
async def test_no_result_reaches_a_client_unseen(case: str, tmp_path: Path) -> None:
    """Hooks see what is in it, or it is not passed on."""
    method, result = RESULTS[case]
    async with open_wire(tmp_path) as wire:
        watch = Watch(wire)
        wire.ask(1, method, name="t", arguments={}, taskId="1")
        await wire.server.wait_for(1)
        wire.answer(1, result)
        got = json.dumps(await wire.client.wait_for(1))
    for hidden in (SECRET, "4111111"):
        assert hidden not in got or watch.saw(hidden)


@pytest.mark.parametrize("key", ["Message", "more"])
async def test_all_of_an_error_is_seen(key: str, tmp_path: Path) -> None:
    """Also what readers that ignore case would take for its message."""
    async with open_wire(tmp_path) as wire:
        watch = Watch(wire)
        wire.ask(1, name="t")
        await wire.server.wait_for(1)
        error = {"code": -1, "message": "fine", key: SECRET}
        wire.server.put({"jsonrpc": "2.0", "id": 1, "error": error})
        got = json.dumps(await wire.client.wait_for(1))
    assert SECRET not in got or watch.saw(SECRET)


async def test_a_text_in_base64_is_read_and_changed_as_a_text(tmp_path: Path) -> None:
    """Clients decode it for their model; an image stays a size and a digest."""
    contents = [
        {"uri": "a:b", "mimeType": "text/plain", "blob": ENCODED},
        {"uri": "a:c", "mimeType": "image/png", "blob": ENCODED},
    ]

    def mask(data: dict[str, Any]) -> HookResult:
        changed = json.loads(json.dumps(data["tool_result"]).replace(SECRET, "***"))
        return HookResult(action="modify", data={**data, "tool_result": changed})

    async with open_wire(tmp_path) as wire:
        wire.on("tool:post", mask)
        wire.ask(1, "resources/read", uri="a:b")
        await wire.server.wait_for(1)
        wire.answer(1, {"contents": contents})
        got = (await wire.client.wait_for(1))[0]["result"]["contents"]
    assert base64.b64decode(got[0]["blob"]) == b"***"
    assert got[1] == contents[1]


async def test_a_task_tells_no_result_by_itself(tmp_path: Path) -> None:
    """Its client asks for that, which hooks see; how far it is may be told."""
    async with open_wire(tmp_path) as wire:
        told: list[dict[str, Any]] = [{"result": text(SECRET)}, {"inputRequests": {}}]
        for params in (*told, {"status": "working"}):
            note = {"jsonrpc": "2.0", "method": "notifications/tasks", "params": params}
            wire.server.put(note)
        assert (await wire.client.wait_for(1))[0]["params"] == {"status": "working"}


@pytest.mark.parametrize("method", ["sampling/createMessage", "elicitation/create"])
async def test_what_a_server_asks_has_an_object_for_hooks_to_see(
    method: str, tmp_path: Path
) -> None:
    """A list in its place is refused."""
    async with open_wire(tmp_path) as wire:
        wire.server.put({"jsonrpc": "2.0", "id": 1, "method": method, "params": [SECRET]})
        refused = await wire.server.wait_for(1)
        assert refused[0]["error"]["message"] == f"{method} wants an object as params"
        assert wire.client.written == []


async def test_a_client_answers_only_what_it_was_asked(tmp_path: Path) -> None:
    """Anything else would reach the server unjudged."""
    async with open_wire(tmp_path) as wire:
        wire.ask(1, name="t", arguments={}, _meta=MODERN)
        await wire.server.wait_for(1)
        wire.answer(1, {"resultType": "input_required", "requestState": "s"})
        mark = (await wire.client.wait_for(1))[0]["result"]["requestState"]
        more: dict[str, Any] = {"requestState": mark, "inputResponses": {"x": {"action": "accept"}}}
        wire.ask(2, name="t", arguments={}, _meta=MODERN, **more)
        again = (await wire.server.wait_for(2))[1]
        assert again["params"]["inputResponses"] == {}
        wire.answer(2, say("done"))
        assert (await wire.client.wait_for(2))[1]["result"] == say("done")


async def test_an_answer_called_data_is_seen(tmp_path: Path) -> None:
    """What a person filled in is no file."""
    async with open_wire(tmp_path) as wire:
        watch = Watch(wire)
        ask = {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": ""}}
        wire.server.put(ask)
        await wire.client.wait_for(1)
        result = {"action": "accept", "content": {"data": SECRET}}
        wire.client.put({"jsonrpc": "2.0", "id": 1, "result": result})
        await wire.server.wait_for(1)
    assert watch.saw(SECRET)


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_a_page_that_an_error_asks_for_is_an_elicitation(
    is_allowed: bool, tmp_path: Path
) -> None:
    """In 2025-11-25, clients show it to a person as they show other questions of a server."""
    link = {"mode": "url", "url": "https://example.com", "message": "Go", "elicitationId": "1"}
    error = {"code": -32042, "message": "x", "data": {"elicitations": [link]}}
    asked: list[Any] = []

    def judge(data: dict[str, Any]) -> HookResult:
        asked.append(data["tool_input"])
        return HookResult() if is_allowed else HookResult(action="deny", reason="no")

    async with open_wire(tmp_path) as wire:
        wire.on("tool:pre", judge, "mcp__srv__elicitation/create")
        for id, method in enumerate(("tools/call", "completion/complete")):
            wire.ask(id, method, name="t")
            await wire.server.wait_for(id + 1)
            wire.server.put({"jsonrpc": "2.0", "id": id, "error": error})
        errors = {one["id"]: one["error"] for one in await wire.client.wait_for(2)}
    assert asked == [link]
    assert (errors[0] == error) is is_allowed
    assert "elicitations" not in json.dumps(errors[1])


async def test_calls_under_one_id_are_two_calls(tmp_path: Path) -> None:
    """1 and "1", and the same id from the other end: what is said about one is not for another."""
    async with open_wire(tmp_path) as wire:
        watch = Watch(wire)
        wire.ask(1, name="t", arguments={})
        wire.ask("1", name="t", arguments={})
        ask = {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": ""}}
        wire.server.put(ask)
        await wire.server.wait_for(2)
        await wire.client.wait_for(1)
    assert len({one["tool_call_id"] for one in watch.seen}) == len(watch.seen) == 3


async def test_nobody_goes_on_under_the_id_of_another_request(tmp_path: Path) -> None:
    """The result would come as the answer to something that nobody judges."""
    async with open_wire(tmp_path) as wire:
        wire.ask(1, name="t", arguments={}, _meta=MODERN)
        await wire.server.wait_for(1)
        wire.answer(1, {"resultType": "input_required", "requestState": "s"})
        mark = (await wire.client.wait_for(1))[0]["result"]["requestState"]
        wire.ask(5, "completion/complete")
        await wire.server.wait_for(2)
        wire.ask(5, name="t", arguments={}, requestState=mark, _meta=MODERN)
        refused = (await wire.client.wait_for(2))[1]
        assert "another request with this id is under way" in refused["error"]["message"]
        wire.ask(6, name="t", arguments={}, requestState=mark, _meta=MODERN)
        assert (await wire.server.wait_for(3))[2]["id"] == 6


@pytest.mark.parametrize("is_client", [True, False])
async def test_the_late_answer_to_a_cancelled_request_goes_nowhere(
    is_client: bool, tmp_path: Path
) -> None:
    """Who cancelled it could have it as the answer to something that nobody judges."""
    asked = ("tools/call", "completion/complete") if is_client else ("sampling/createMessage", "x")
    async with open_wire(tmp_path) as wire:
        one, other = (wire.client, wire.server) if is_client else (wire.server, wire.client)
        one.put({"jsonrpc": "2.0", "id": 5, "method": asked[0], "params": {"name": "t"}})
        await other.wait_for(1)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
        one.put(cancel)
        one.put({"jsonrpc": "2.0", "id": 5, "method": asked[1], "params": {}})
        assert "was cancelled" in (await one.wait_for(1))[0]["error"]["message"]
        other.put({"jsonrpc": "2.0", "id": 5, "result": text(SECRET)})
        one.put({"jsonrpc": "2.0", "id": 6, "method": asked[1], "params": {}})
        await other.wait_for(3)
        other.put({"jsonrpc": "2.0", "id": 6, "result": {}})
        assert (await one.wait_for(2))[1] == {"jsonrpc": "2.0", "id": 6, "result": {}}


async def test_a_server_does_not_ask_for_ever(tmp_path: Path, monkeypatch: Any) -> None:
    """Where hooks decline its questions, nobody else would stop it."""
    monkeypatch.setattr("amplifier_hooks.mcp.gateway.rounds.MOST_ROUNDS", 3)
    question = {"method": "elicitation/create", "params": {"message": ""}}
    asking = {"resultType": "input_required", "inputRequests": {"a": question}}
    async with open_wire(tmp_path) as wire:
        deny = HookResult(action="deny", reason="no")
        wire.on("tool:pre", deny, "mcp__srv__elicitation/create")
        wire.ask(1, name="t", arguments={}, _meta=MODERN)
        for number in range(4):
            await wire.server.wait_for(number + 1)
            wire.answer(1, asking)
        assert "not allowed" in (await wire.client.wait_for(1))[0]["error"]["message"]

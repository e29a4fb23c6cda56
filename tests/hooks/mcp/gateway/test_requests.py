"""Requests under way, and the methods of which hooks judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core.errors import AmplifierError
from amplifier_hooks.guards.mcp.frames import Frame, FrameError, answer, write_frame
from amplifier_hooks.mcp.gateway import requests as pending
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.requests import (
    FROM_CLIENT,
    FROM_SERVER,
    PROTOCOL,
    Pending,
    Progress,
    Side,
)
from tests.support.mcp.relaying import Line

META = {"progressToken": 1}


@pytest.mark.parametrize(
    ("method", "params", "name", "seen"),
    [
        ("tools/call", {"name": "a", "arguments": {"x": 1}}, "mcp__s__a", {"x": 1}),
        ("tools/call", {"name": "a"}, "mcp__s__a", {}),
        ("resources/read", {"uri": "a:b", "_meta": META}, "mcp__s__resources/read", {"uri": "a:b"}),
        (
            "prompts/get",
            {"name": "p", "arguments": {"x": "1"}},
            "mcp__s__prompts/get",
            {"name": "p", "arguments": {"x": "1"}},
        ),
        ("tasks/result", {"taskId": "t"}, "mcp__s__tasks/result", {"taskId": "t"}),
    ],
)
def test_hooks_see_what_a_client_asks_for(
    method: str, params: dict[str, Any], name: str, seen: dict[str, Any]
) -> None:
    """Under a name that rules can match; what they leave goes back to its place."""
    found = FROM_CLIENT[method]
    assert found.name_call("s", params) == name
    assert found.read(params) == seen
    assert found.read(found.replace(params, seen)) == seen
    changed = found.replace({**params, "_meta": META}, {**seen, "new": 1})
    assert changed["_meta"] == META
    assert found.read(changed) != seen or method != "tools/call"


def test_hooks_see_all_that_a_server_asks_for() -> None:
    """But for what only programs read; a key that a hook took out is gone."""
    sample = FROM_SERVER["sampling/createMessage"]
    params = {"messages": [], "maxTokens": 5, "_meta": META}
    assert sample.read(params) == {"messages": [], "maxTokens": 5}
    assert sample.replace(params, {"messages": []}) == {"messages": [], "_meta": META}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": None}),
        ("tools/call", {"name": "a", "arguments": []}),
        ("tools/call", {"name": "a", "ARGUMENTS": {}}),
        ("resources/read", {"uri": {}}),
        ("resources/read", {"uri": "a", "URI": "b"}),
        ("prompts/get", {"name": 1}),
        ("tasks/result", {}),
    ],
)
def test_what_cannot_be_judged_is_refused(method: str, params: dict[str, Any]) -> None:
    """With the id of the request."""
    with pytest.raises(FrameError) as caught:
        FROM_CLIENT[method].check(params, 9)
    assert caught.value.id == 9


ODD = (
    " delete_all",
    "delete_all ",
    "delete\u200b_all",
    "\uff44elete_all",
    "delete_all\n",
    "\ufb01nd",
    "",
)


@pytest.mark.parametrize("method", ["tools/call", "prompts/get"])
@pytest.mark.parametrize("name", ODD)
def test_a_name_that_could_be_taken_for_another_is_refused(method: str, name: str) -> None:
    """Rules and people read one name, and the server would run another."""
    with pytest.raises(FrameError, match="the name"):
        FROM_CLIENT[method].check({"name": name}, 1)


@pytest.mark.parametrize("name", ["delete_all", "List Files", "größe", "a/b.c-d", "日本"])
def test_ordinary_names_pass(name: str) -> None:
    """Whatever their language."""
    FROM_CLIENT["tools/call"].check({"name": name}, 1)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "FIRST", 0.001)
    monkeypatch.setattr(pending, "EVERY", 0.001)


def make_progress(**meta: Any) -> Pending:
    params = {"_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Pending(write_frame(message), "judged")


async def test_a_client_that_waits_for_a_person_is_told_again_and_again() -> None:
    """With progress that grows, until the server has the call, and again once it has answered."""
    told: asyncio.Queue[Frame] = asyncio.Queue()
    pending = make_progress(progressToken="t")
    tell = Progress(pending, "mcp__s__a", told.put_nowait)
    tell.start()
    first, second = [(await told.get()).params for _ in range(2)]
    assert first["progressToken"] == "t"
    assert first["progress"] < second["progress"]
    assert "mcp__s__a" in first["message"]
    pending.is_forwarded = True
    pending.response = asyncio.get_running_loop().create_future()
    while not told.empty():
        told.get_nowait()
    await asyncio.sleep(0.02)
    assert told.empty()
    pending.mark_answered(answer(1, {}))
    await asyncio.wait_for(told.get(), 30)
    tell.stop()


@pytest.mark.parametrize("meta", [{}, {"progressToken": None}, {"progressToken": []}])
async def test_a_client_that_did_not_ask_is_told_nothing(meta: dict[str, Any]) -> None:
    """It would not know what is meant."""
    told: list[Frame] = []
    tell = Progress(make_progress(**meta), "a", told.append)
    tell.start()
    await asyncio.sleep(0.01)
    tell.stop()
    assert told == []


def test_a_channel_fails_with_an_error_that_people_read() -> None:
    """The command line shows it without a traceback."""
    assert issubclass(ChannelError, AmplifierError)


def make(id: object, **params: object) -> Pending:
    return Pending(
        write_frame({"jsonrpc": "2.0", "id": id, "method": "a", "params": params}), "judged"
    )


async def test_a_request_is_found_by_its_id_until_it_is_answered() -> None:
    """A later one may have the same id, and is not removed for the first."""
    side = Side("server", Line())
    first, second = make(1), make(1)
    assert side.add(first)
    assert not side.add(second)
    assert side.find(1) is first
    assert side.find("1") is None
    side.remove(first)
    assert side.add(second)
    side.remove(first)
    assert side.find(1) is second


def test_the_id_of_a_cancelled_request_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer may come all the same, unless nobody was asked; not all of them are kept."""
    monkeypatch.setattr("amplifier_hooks.mcp.gateway.requests.MOST_GIVEN_UP", 2)
    side = Side("server", Line())
    for id in (1, 2, 3, 4):
        pending = make(id)
        pending.is_forwarded = id != 4
        assert side.add(pending)
        side.give_up(pending)
    assert [side.is_free(id) for id in (1, 2, 3, 4)] == [True, False, False, True]
    assert not side.add(make(2))


async def test_a_request_is_answered_once() -> None:
    """Whatever comes later is too late."""
    pending = make(1)
    pending.mark_answered(answer(1, {}))  # nobody waits yet
    pending.response = asyncio.get_running_loop().create_future()
    pending.mark_answered(answer(1, {"first": True}))
    pending.mark_answered(answer(1, {"second": True}))
    pending.fail(ValueError())
    assert (await pending.response).message["result"] == {"first": True}
    pending.response = asyncio.get_running_loop().create_future()
    pending.fail(ValueError("gone"))
    with pytest.raises(ValueError, match="gone"):
        await pending.response


def test_the_newer_protocol_is_told_by_what_its_requests_carry() -> None:
    """And by nothing else."""
    assert make(1, _meta={PROTOCOL: "2026-07-28"}).is_modern
    assert not make(1, _meta={}).is_modern
    assert not make(1, _meta=3).is_modern

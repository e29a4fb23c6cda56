"""The same id gets the same answer, byte for byte, and no hook is called twice."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from amplifier_hooks.server.judging import session as sessions
from tests.hooks.server.judging.scene import Scene, open_session
from tests.hooks.server.judging.switches import gates, heard

CALL = {"event": "call", "id": "c1", "tool": "Say", "input": {}}


async def test_a_retry_gets_the_same_bytes(client: httpx2.AsyncClient) -> None:
    """With the notes and messages that were handed out once; and so does a poll."""
    program = await open_session(client)
    first = await program.post(**CALL)
    again = await program.post(**CALL)
    polled = await program.poll("c1")
    assert first.content == again.content == polled.content
    assert first.json()["notes"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert heard["c1"] == 1
    assert (await program.call("c2"))["notes"] == []


async def test_duplicates_at_once_wait_for_the_same_judgement(client: httpx2.AsyncClient) -> None:
    """While the first is being judged, the others wait with it."""
    program = await open_session(client)
    body = {**CALL, "tool": "Slow"}
    sent = [asyncio.create_task(program.post(**body)) for _ in range(4)]
    while "c1" not in gates:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    gates["c1"].set()
    answers = await asyncio.gather(*sent)
    assert len({one.content for one in answers}) == 1
    assert [one.status_code for one in answers] == [200] * 4
    assert sum("idempotency-replayed" in one.headers for one in answers) == 3
    assert heard["c1"] == 1


async def test_an_id_belongs_to_one_body(client: httpx2.AsyncClient) -> None:
    """A mistake in the program; how long it waits is no part of the body."""
    program = await open_session(client)
    await program.post(**CALL)
    other = await program.post(**{**CALL, "input": {"x": 1}})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "key_reused")
    result = await program.post(event="result", id="c1", call="c1", output="x")
    assert (result.status_code, result.json()["error"]["code"]) == (409, "key_reused")
    assert (await program.post(**CALL, wait=5)).status_code == 200
    assert heard["c1"] == 1


async def test_a_retry_while_a_person_is_asked_asks_nobody_twice(
    client: httpx2.AsyncClient, judge: Scene
) -> None:
    """It is pending as before; once it is decided, it has the judgement."""
    program = await open_session(client)
    body = {**CALL, "tool": "Ask"}
    first = (await program.post(**body)).json()
    again = (await program.post(**body)).json()
    assert first["decision"] == again["decision"] == "pending"
    assert first["approvals"][0]["id"] == again["approvals"][0]["id"]
    assert heard["c1"] == 1
    waiting = asyncio.create_task(program.post(**body, wait=30))
    await judge.answer(program.id)
    decided = await waiting
    assert decided.json()["decision"] == "allow"
    assert (await program.poll("c1")).content == decided.content


@pytest.mark.parametrize("limit", ["MOST_ANSWERS", "MOST_BYTES"])
async def test_an_answer_that_is_no_longer_kept_is_a_no(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """It was judged, and is not judged again; the newest is always kept."""
    monkeypatch.setattr(sessions, limit, 2 if limit == "MOST_ANSWERS" else 1)
    program = await open_session(client)
    for number in range(4):
        await program.call(f"c{number}")
    gone = await program.poll("c0")
    assert (gone.status_code, gone.json()["error"]["code"]) == (410, "answer_gone")
    retried = await program.post(event="call", id="c0", tool="Plain", input={"value": 1})
    assert (retried.status_code, retried.json()["error"]["code"]) == (410, "answer_gone")
    assert (await program.poll("c3")).status_code == 200
    assert heard["c0"] == 1
    await program.report("c0")


async def test_after_the_end_a_retry_is_no_yes(client: httpx2.AsyncClient) -> None:
    """What was allowed is allowed no more, whether it is asked again or polled for."""
    program = await open_session(client)
    await program.post(**CALL)
    await program.end()
    for response in (await program.post(**CALL), await program.poll("c1")):
        assert (response.status_code, response.json()["error"]["code"]) == (409, "session_ended")


async def test_the_end_is_told_the_same_again(client: httpx2.AsyncClient) -> None:
    """Byte for byte, whatever the reason is then; also to those who end it at once."""
    program = await open_session(client)
    await program.call("c1")
    path = f"{program.path}/end"
    sent = (client.post(path, json={"reason": "error"}) for _ in range(3))
    answers = [*await asyncio.gather(*sent), await client.post(path, json={})]
    assert len({one.content for one in answers}) == 1
    state = answers[0].json()
    assert (state["status"], state["reason"], state["unreported"]) == ("ended", "error", ["c1"])
    assert heard["end error"] == 1


async def test_there_is_nothing_to_poll_for_that_was_never_sent(
    client: httpx2.AsyncClient,
) -> None:
    """404, also for an id with a slash; one that was sent is found by it."""
    program = await open_session(client)
    response = await program.poll("a/b")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "no_event")
    await program.call("a/b")
    found = await client.get(f"{program.path}/events/a%2Fb")
    assert (found.status_code, found.json()["id"]) == (200, "a/b")

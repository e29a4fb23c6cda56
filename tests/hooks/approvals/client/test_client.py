"""Clients of a server, for agents and for people."""

from __future__ import annotations

import asyncio
import json

import pytest

from amplifier_hooks.approvals import errors
from amplifier_hooks.approvals import http_connection as connection_module
from amplifier_hooks.approvals.client import BODY, MOST, HttpLink, fit_transcript, split_records
from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.errors import (
    BadRequest,
    Conflict,
    NotAllowed,
    NotFound,
    StoreUnavailable,
)
from amplifier_hooks.approvals.http_connection import Connection, read_failure
from amplifier_hooks.approvals.link import AgentLink
from amplifier_hooks.approvals.models import (
    Approval,
    Choice,
    Decider,
    SessionEntry,
    SessionRecord,
    Value,
)
from tests.hooks.approvals.client.scripted_server import run_scripted, write_answer
from tests.hooks.server.world import World, make_request

ANN = Decider("ann", "web")


async def connect(world: World, name: str = "bot") -> HttpLink:
    return HttpLink(world.address, await world.token(name, "agent"), patience=0.5)


async def test_a_call_is_asked_about_allowed_claimed_and_finished(served: World):
    """The same as over a store in the process."""
    link: AgentLink = await connect(served)
    asked = await link.request(make_request())
    assert (await link.request(make_request())).id == asked.id
    assert (await link.wait(asked.id, 0.01)).status == "pending"
    waiting = asyncio.create_task(link.wait(asked.id, 60))
    held = await served.store.approvals.get(asked.id)
    choice = Choice(option=1, nonce=held.nonce, key="k", comment="go")
    await served.store.approvals.decide(asked.id, choice, ANN)
    decided = await waiting
    assert (decided.status, decided.decided_by, decided.comment) == ("approved", "ann", "go")
    claim = await link.claim("session-1", "call-1", "d" * 64, 60.0)
    with pytest.raises(Conflict) as twice:
        await link.claim("session-1", "call-1", "d" * 64, 60.0)
    assert twice.value.approval.status == "executing"
    renewed = await link.renew(claim, 90.0)
    assert renewed.fence == claim.fence
    await link.finish(renewed, "executed")
    await link.finish(renewed, "executed")  # an answer that got lost is asked for again
    assert (await served.store.approvals.get(asked.id)).status == "executed"
    assert await link.claim("session-1", "nobody asked", "d", 60.0) is None
    await link.close()


async def test_rules_sessions_records_and_withdrawals_pass(served: World):
    """Everything an agent needs of a store."""
    link = await connect(served)
    await link.save_session(SessionEntry(id="session-1", turns=2), [{"role": "user"}])
    await link.publish(
        "session-1", [SessionRecord(number=1, time=1.0, type="dispatch", body={"a": 1})]
    )
    assert await link.find_rule(make_request()) is None
    asked = await link.request(make_request())
    ended = await link.withdraw(asked.id, by="kim", option="Deny", reason="terminal")
    assert (ended.status, ended.decided_by) == ("cancelled", "kim")
    assert (await served.store.sessions.get("session-1")).user == "bot"
    assert await served.store.sessions.transcript("session-1") == [{"role": "user"}]
    assert (await served.store.records.read("session-1"))[0].body == {"a": 1}
    await link.close()


async def test_what_is_too_large_for_one_request_arrives_all_the_same(served: World):
    """A long conversation is cut at its beginning; many records come in portions."""
    link = await connect(served)
    messages = [{"role": "user", "content": f"{number} {'x' * 100_000}"} for number in range(40)]
    await link.save_session(SessionEntry(id="session-1"), messages)
    records = [
        SessionRecord(number=n, time=1.0, type="dispatch", body={"a": "x" * 200_000})
        for n in range(1, 16)
    ]
    await link.publish("session-1", records)
    kept = await served.store.sessions.transcript("session-1")
    assert kept[0]["left_out"] + len(kept) - 1 == 40
    assert kept[-1] == messages[-1]
    assert await served.store.records.read("session-1") == records
    await link.close()


async def test_another_agents_questions_are_not_there(served: World):
    """Agents see only their own."""
    mine, theirs = await connect(served), await connect(served, "other")
    asked = await mine.request(make_request())
    with pytest.raises(NotFound):
        await theirs.wait(asked.id, 1)
    with pytest.raises(NotAllowed):
        await theirs.claim("session-1", "call-1", "d" * 64, 60.0)
    await mine.close()
    await theirs.close()


async def test_a_wrong_token_is_said_at_once(served: World):
    """Nothing is gained by trying again."""
    link = HttpLink(served.address, "amp_wrong")
    with pytest.raises(NotAllowed) as raised:
        await link.request(make_request())
    assert "amp_wrong" not in str(raised.value)
    await link.close()


async def test_a_server_that_comes_back_gets_the_question_again():
    """Retries until the deadline; the key makes it harmless."""
    from amplifier_hooks.approvals.models import Approval

    approval = Approval(
        id="id",
        nonce="",
        status="pending",
        request=make_request(),
        created=1.0,
        deadline=2.0,
        updated=1.0,
        seconds_left=1.0,
    )
    good = write_answer(201, json.dumps(approval.model_dump(mode="json")))
    async with run_scripted(write_answer(503), b"", good) as server:
        link = HttpLink(server.address, "amp_t")
        assert await link.request(make_request()) == approval
        await link.close()
    assert len(server.requests) == 3


async def test_a_server_that_stays_away_is_unavailable_with_a_sentence():
    """StoreUnavailable otherwise, for a wait and for a question."""
    async with run_scripted(b"") as server:
        pass
    link = HttpLink(server.address, "amp_t", patience=0.1)
    for attempt in (
        link.request(make_request(timeout=0.1)),
        link.wait("id", 0.1),
        link.claim("s", "c", "d", 1.0),
        link.publish("s", [SessionRecord(number=1, time=1.0, type="dispatch")]),
    ):
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await attempt
    await link.close()


@pytest.mark.parametrize("answer", ["{}", '{"claim": 5}', '{"claim": {"fence": "x"}}'])
async def test_an_answer_that_is_none_allows_nothing(answer: str):
    """Another server may stand there: no approval, and no claim."""
    async with run_scripted(write_answer(200, answer)) as server:
        link = HttpLink(server.address, "amp_t", patience=0.0)
        with pytest.raises(StoreUnavailable):
            await link.wait("id", 0.0)
        with pytest.raises(StoreUnavailable):
            await link.claim("s", "c", "d", 1.0)
        await link.close()


def record(number: int, size: int = 10) -> SessionRecord:
    return SessionRecord(number=number, time=0.0, type="t", body={"text": "x" * size})


def test_a_short_transcript_is_sent_as_it_is():
    """And an empty one."""
    assert fit_transcript([]) == []
    assert fit_transcript([{"a": 1}]) == [{"a": 1}]


def test_of_a_long_transcript_the_newest_messages_stay():
    """The first entry says how many were left out."""
    messages = [{"number": number, "text": "x" * 100} for number in range(10)]
    kept = fit_transcript(messages, largest=400)
    assert kept[0] == {"left_out": 10 - len(kept) + 1}
    assert kept[1:] == messages[-len(kept) + 1 :]
    assert len(kept) == 4


def test_records_are_split_by_size_and_by_number_and_stay_in_order():
    """None is lost, and no portion is empty."""
    records = [record(number, 100) for number in range(1, 8)]
    portions = list(split_records(records, largest=500))
    assert [one for portion in portions for one in portion] == records
    assert [len(portion) for portion in portions] == [2, 2, 2, 1]
    many = list(split_records([record(n) for n in range(1, MOST + 2)]))
    assert [len(portion) for portion in many] == [MOST, 1]
    assert list(split_records([])) == []


def test_a_record_that_the_store_would_not_keep_in_full_says_so():
    """It does not hold up the others."""
    (portion,) = split_records([record(1), record(2, BODY), record(3)])
    assert [one.number for one in portion] == [1, 2, 3]
    assert "left_out" in portion[1].body


TOKEN = "amp_secret"


@pytest.mark.parametrize(
    "url",
    [
        "http://agents.example.com",
        "http://10.0.0.5:8411",
        "ftp://localhost",
        "localhost:8411",
        "https://user:pass@host",
        "https://host?token=x",
        "https://host#x",
        "https://host/path",
        "",
    ],
)
def test_an_address_that_would_give_something_away_is_refused(url: str):
    """Refuses http:// to other machines, and secrets in addresses."""
    with pytest.raises(BadRequest) as raised:
        Connection(url, TOKEN)
    assert "pass@" not in str(raised.value)


@pytest.mark.parametrize("token", ["", "a b", "ä", "a\nb"])
def test_a_token_that_is_none_is_refused_without_being_repeated(token: str):
    """It could be a good one with a slip in it."""
    with pytest.raises(BadRequest) as raised:
        Connection("https://host", token)
    assert not token or token not in str(raised.value)


async def test_the_token_is_sent_in_a_header_and_nowhere_else():
    """Token never in URL or error text."""
    good = write_answer(200, '{"id": "s", "novelty": 1}')
    async with run_scripted(good, write_answer(500)) as server:
        connection = Connection(server.address, TOKEN)
        found = await connection.get("/me", SessionEntry, empty="", wait=2)
        assert found == SessionEntry(id="s")
        with pytest.raises(StoreUnavailable) as raised:
            await connection.post("/x", {"a": 1}, Value)
        await connection.close()
    line, *headers = server.requests[0].decode().split("\r\n")
    assert line == "GET /api/v1/me?wait=2 HTTP/1.1"
    assert f"Authorization: Bearer {TOKEN}".lower() in [one.lower() for one in headers]
    assert TOKEN not in str(raised.value)


async def test_no_redirect_is_followed():
    """The token is for this server."""
    async with run_scripted(write_answer(302, "", "Location: http://evil.test/")) as server:
        connection = Connection(server.address, TOKEN)
        with pytest.raises(StoreUnavailable, match="302"):
            await connection.get("/me", Value)
        await connection.close()
    assert len(server.requests) == 1


async def test_what_goes_wrong_is_a_sentence(monkeypatch: pytest.MonkeyPatch):
    """Nobody there, no JSON, too slow, too much."""
    async with run_scripted(write_answer(200, "<html>"), write_answer(404)) as server:
        connection = Connection(server.address, TOKEN)
        with pytest.raises(StoreUnavailable, match="JSON"):
            await connection.get("/me", Value)
        with pytest.raises(NotFound):
            await connection.get("/me", Value)
        monkeypatch.setattr(connection_module, "_MOST", 1)
        with pytest.raises(StoreUnavailable, match="more than 1 bytes"):
            await connection.get("/me", Value)
        await connection.close()
    connection = Connection(server.address, TOKEN)
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{server.port} does not answer"):
        await connection.get("/me", Value)
    await connection.close()


async def test_a_server_that_says_nothing_is_not_waited_for():
    """A time limit for the whole exchange."""
    async with run_scripted(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12") as server:
        connection = Connection(server.address, TOKEN)
        with pytest.raises(StoreUnavailable):
            await connection.get("/me", Value, seconds=0.2)
        await connection.close()


@pytest.mark.parametrize("answer", ["{}", '{"id": 5}', '{"id": "s", "turns": "3"}', "[]", "null"])
async def test_what_is_not_what_was_asked_for_is_no_answer(answer: str):
    """Whatever stands there, an agent does not go on with half of a value."""
    async with run_scripted(write_answer(200, answer)) as server:
        connection = Connection(server.address, TOKEN)
        with pytest.raises(StoreUnavailable, match=r"something else than SessionEntry: \w|JSON"):
            await connection.get("/me", SessionEntry)
        await connection.close()


async def test_what_is_no_json_is_not_sent():
    """The server would refuse it as well."""
    connection = Connection("http://127.0.0.1:1", TOKEN)
    for value in (float("nan"), b"bytes", object()):
        with pytest.raises(BadRequest, match="cannot be sent as JSON"):
            await connection.post("/x", {"a": value}, Value)


async def test_events_are_read_as_they_come():
    """What is no event is a sign of life."""
    lines = 'data: {"id":"s"}\n\n: x\n'
    async with run_scripted(write_answer(200, lines), write_answer(403)) as server:
        connection = Connection(server.address, TOKEN)
        found = [event async for event in connection.stream("/s", SessionEntry)]
        assert found == [SessionEntry(id="s"), None, None]
        with pytest.raises(Exception, match="403"):
            _ = [event async for event in connection.stream("/s", SessionEntry)]
        await connection.close()


async def test_an_event_that_is_none_is_an_error():
    """Another server may stand there."""
    async with run_scripted(write_answer(200, "data: 1\n")) as server:
        connection = Connection(server.address, TOKEN)
        with pytest.raises(StoreUnavailable, match="something else than SessionEntry"):
            _ = [event async for event in connection.stream("/s", SessionEntry)]
        await connection.close()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, errors.StoreUnavailable),
        (400, errors.BadRequest),
        (401, errors.NotAllowed),
        (403, errors.NotAllowed),
        (404, errors.NotFound),
        (408, errors.StoreUnavailable),
        (409, errors.Conflict),
        (413, errors.BadRequest),
        (422, errors.BadRequest),
        (429, errors.TooMany),
        (500, errors.StoreUnavailable),
        (503, errors.StoreUnavailable),
    ],
)
def test_the_errors_are_the_stores_own(status: int, kind: type[Exception]):
    """Whether the store is here or there makes no difference to who asks."""
    assert type(read_failure("host", status, None)) is kind
    told = read_failure("host", status, {"error": {"message": "why"}})
    assert type(told) is kind
    assert status in (302, 408) or "why" in str(told)


def test_a_conflict_brings_the_approval():
    """How it stands."""
    approval = Approval(
        id="id",
        nonce="",
        status="denied",
        request=make_request(),
        created=1.0,
        deadline=2.0,
        updated=1.0,
        seconds_left=0.0,
    )
    body = {"error": {"message": "late"}, "approval": json.loads(to_json(approval))}
    failure = read_failure("host", 409, body)
    assert isinstance(failure, errors.Conflict)
    assert failure.approval == approval


@pytest.mark.parametrize("body", [[], "x", {"error": "x"}, {"approval": 5}, {"approval": {}}])
def test_whatever_a_server_sends_is_an_error_and_nothing_else(body: object):
    """Another server may stand there."""
    assert isinstance(read_failure("host", 409, body), errors.Conflict)


def test_a_long_story_is_cut():
    """Nobody reads two megabytes."""
    assert len(str(read_failure("h", 400, {"error": {"message": "x" * 10**6}}))) < 3000

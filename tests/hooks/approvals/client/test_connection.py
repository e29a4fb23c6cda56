"""One server, spoken to over HTTP."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals import http_connection as connection_module
from amplifier_hooks.approvals.errors import BadRequest, NotFound, StoreUnavailable
from amplifier_hooks.approvals.http_connection import Connection
from amplifier_hooks.approvals.models import SessionEntry, Value
from tests.hooks.approvals.client.scripted_server import run_scripted, write_answer

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

"""HTTP: requests are read within limits, and what is none gets a clear answer."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.agent.model_server import ModelServer
from amplifier_hooks.agent.model_server.http import BadRequest, HttpRequest, read_request
from tests.hooks.agent.model_server.wire import USER, send_bytes, write_body, write_post


async def parse(content: bytes) -> HttpRequest | None:
    reader = asyncio.StreamReader()
    reader.feed_data(content)
    reader.feed_eof()
    return await read_request(reader)


async def test_a_request_is_read_to_the_end_of_its_body() -> None:
    """Names of headers are in lower case, the query is not part of the path."""
    request = await parse(
        b"post /v1/x?a=1 HTTP/1.1\r\nX-Api-Key: k\r\nContent-Length: 3\r\n\r\nabcd"
    )
    assert request == HttpRequest(
        "POST", "/v1/x", {"x-api-key": "k", "content-length": "3"}, b"abc"
    )


@pytest.mark.parametrize(
    "content", [b"", b"\r\n", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"]
)
async def test_who_leaves_before_the_end_has_not_asked(content: bytes) -> None:
    """There is nobody to answer."""
    assert await parse(content) is None


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /v1/models HTTP/1.1\r\n\r\n", 404),
        (b"nonsense\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 413),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 500 + b"\r\n", 431),
        (b"G" * 100_000 + b"\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 3\r\n\r\n{,}", 400),
    ],
)
async def test_nonsense_gets_an_error_and_the_server_lives_on(
    request_bytes: bytes, status: int
) -> None:
    """Every wrong request has an answer with a message, and the next one is served."""
    async with ModelServer([{"text": "Still here."}]) as server:
        answer = await send_bytes(server, request_bytes)
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        assert b'"message"' in answer
        next_one = write_post("/v1/chat/completions", write_body(USER))
        assert b"Still here." in await send_bytes(server, next_one)


@settings(max_examples=50)
@given(st.binary(max_size=200))
async def test_no_bytes_lead_to_another_exception(content: bytes) -> None:
    """A request, none, or a refusal with its status."""
    try:
        request = await parse(content + b"\r\n\r\n")
    except BadRequest as refusal:
        assert 400 <= refusal.status < 500  # noqa: PT017 - any of them will do
    else:
        assert request is None or request.method


@pytest.mark.parametrize(
    ("status", "phrase"),
    [("overloaded", "529 Overloaded"), ("rate_limit", "429 Too Many Requests")],
)
async def test_the_phrase_fits_the_status(status: str, phrase: str) -> None:
    """Also for a status that no standard knows."""
    async with ModelServer([{"error": status}]) as server:
        answer = await send_bytes(server, write_post("/v1/messages", write_body(USER)))
    assert answer.startswith(f"HTTP/1.1 {phrase}\r\n".encode())


async def test_a_cut_answer_says_more_than_it_sends() -> None:
    """`break_after` on a whole reply drops the connection in the middle of the body."""
    async with ModelServer([{"text": "Hello.", "break_after": 0}]) as server:
        answer = await send_bytes(server, write_post("/v1/messages", write_body(USER)))
    head, _, body = answer.partition(b"\r\n\r\n")
    promised = int(head.lower().split(b"content-length: ")[1].split()[0])
    assert len(body) == promised // 2

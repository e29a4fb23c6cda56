"""A refusal."""

from __future__ import annotations

import json

from amplifier_apps.web.guard.refusal import Refusal, send_refusal

SLOW_DOWN = Refusal(429, "too_many", "Too many requests.", retry_after=6)


async def send_all(scope, refusal: Refusal):
    sent = []

    async def send(message):
        sent.append(message)

    await send_refusal(scope, send, refusal, [(b"x", b"y")])
    return sent


async def test_a_request_is_answered_with_a_code_and_a_sentence():
    """The connection is closed: nobody read the rest of the body."""
    start, body = await send_all({"type": "http"}, SLOW_DOWN)
    headers = dict(start["headers"])
    assert (start["status"], headers[b"retry-after"], headers[b"x"]) == (429, b"6", b"y")
    assert headers[b"connection"] == b"close"
    told = {"error": {"code": "too_many", "message": "Too many requests."}}
    assert json.loads(body["body"]) == told
    assert headers[b"content-length"] == str(len(body["body"])).encode()


async def test_who_has_no_credential_is_told_which_kind_is_wanted():
    """As HTTP wants it."""
    start, _ = await send_all({"type": "http"}, Refusal(401, "credential", "Who?"))
    assert dict(start["headers"])[b"www-authenticate"] == b"Bearer"


async def test_a_handshake_is_refused_before_it_is_accepted():
    """With a status where the server can send one, else by closing."""
    able = {"type": "websocket", "extensions": {"websocket.http.response": {}}}
    start, body = await send_all(able, SLOW_DOWN)
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 429)
    assert body["type"] == "websocket.http.response.body"
    (closed,) = await send_all({"type": "websocket"}, SLOW_DOWN)
    assert (closed["type"], closed["code"]) == ("websocket.close", 1008)

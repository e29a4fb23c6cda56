"""The headers of every answer."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_apps.web.guard import response_headers
from amplifier_apps.web.guard.response_headers import add_headers, list_headers


def test_every_answer_says_what_a_browser_must_not_do():
    """No framing, strict content policy, no sniffing, no referrer."""
    headers = dict(list_headers(is_api=False, uses_tls=False))
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"referrer-policy"] == b"no-referrer"
    assert headers[b"cross-origin-opener-policy"] == b"same-origin"
    assert b"cache-control" not in headers


def test_the_api_is_not_kept_anywhere_and_tls_stays_tls():
    """What was decided is not in a cache."""
    headers = dict(list_headers(is_api=True, uses_tls=True))
    assert headers[b"cache-control"] == b"no-store"
    assert b"strict-transport-security" in headers


async def test_they_are_added_to_the_start_of_an_answer_only():
    """The rest passes as it is."""
    sent = []

    async def send(message):
        sent.append(message)

    with_headers = add_headers(send, [(b"a", b"b")])
    await with_headers({"type": "http.response.start", "status": 200, "headers": [(b"c", b"d")]})
    await with_headers({"type": "http.response.body", "body": b""})
    assert sent[0]["headers"] == [(b"c", b"d"), (b"a", b"b")]
    assert sent[1] == {"type": "http.response.body", "body": b""}


async def test_who_does_not_read_an_answer_is_given_up(monkeypatch: pytest.MonkeyPatch):
    """A stuck answer holds its place only for so long."""
    monkeypatch.setattr(response_headers, "SEND_SECONDS", 0.01)

    async def never(message):
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await add_headers(never, [])({"type": "http.response.body", "body": b""})

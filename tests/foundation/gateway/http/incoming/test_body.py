"""The body of a client's request."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_foundation.gateway.http.incoming import body as body_module
from amplifier_foundation.gateway.http.incoming.body import read_body
from amplifier_foundation.gateway.http.incoming.head import Head
from amplifier_foundation.gateway.http.incoming.refusal import Refusal


async def _read(*messages: dict[str, Any], length: str | None = None) -> bytes | None:
    waiting = list(messages)

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    headers = () if length is None else (("content-length", length),)
    return await read_body(Head("POST", "/mcp", headers), receive)


def _part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_body_comes_in_parts():
    """And is read to its end."""
    assert await _read(_part(b"a", more=True), _part(b""), length="1") == b"a"


async def test_a_client_that_leaves_has_sent_nothing():
    """Half a message is none."""
    assert await _read(_part(b"a", more=True), {"type": "http.disconnect"}) is None


@pytest.mark.parametrize("length", ["11", "9" * 13, "-1", "x", "1, 1"])
async def test_a_length_that_is_too_large_is_refused_before_anything_is_read(
    length: str, monkeypatch: pytest.MonkeyPatch
):
    """Or one that is no number."""
    monkeypatch.setattr(body_module, "LARGEST", 10)
    with pytest.raises(Refusal, match="at most 10 bytes") as raised:
        await _read(length=length)
    assert raised.value.status == 413


async def test_more_than_was_stated_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Chunked bodies state nothing."""
    monkeypatch.setattr(body_module, "LARGEST", 10)
    with pytest.raises(Refusal, match="at most 10 bytes"):
        await _read(_part(b"x" * 6, more=True), _part(b"x" * 6, more=True))


async def test_a_slow_body_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Nobody holds a connection for ever without saying anything."""
    monkeypatch.setattr(body_module, "BODY_SECONDS", 0.01)
    with pytest.raises(Refusal) as raised:
        await _read(_part(b"x", more=True))
    assert raised.value.status == 408

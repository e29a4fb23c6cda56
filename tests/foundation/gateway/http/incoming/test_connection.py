"""How uvicorn runs the endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import signal

import pytest

from amplifier_foundation.gateway.http.incoming import connection as connection_module
from tests.foundation.gateway.http.incoming.asgi import Relay, run_listening

REFUSED = b"GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def _send(port: int, sent: bytes) -> bytes:
    """What comes until the connection ends."""
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            answer = await reader.read()
        writer.close()
    return answer


@pytest.mark.parametrize("sent", [b"", REFUSED[:12]])
async def test_a_connection_without_a_request_is_given_up(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
):
    """Also with half a head."""
    monkeypatch.setattr(connection_module, "HEAD_SECONDS", 0.01)
    async with run_listening(Relay().serve) as port:
        assert await _send(port, sent) == b""


async def test_a_refused_request_ends_its_connection():
    """Nobody who was not let in may keep one, or learns what runs here."""
    async with run_listening(Relay().serve) as port:
        answer = await _send(port, REFUSED)
    assert answer.startswith(b"HTTP/1.1 404")
    assert b"server:" not in answer.lower()


async def test_signals_are_left_to_who_runs_it():
    """The command ends everything in order."""
    before = signal.getsignal(signal.SIGTERM)
    async with run_listening(Relay().serve) as port:
        await _send(port, REFUSED)
        assert signal.getsignal(signal.SIGTERM) is before

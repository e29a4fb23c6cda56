"""A request that goes no further."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_foundation.gateway.http.incoming.refusal import Refusal, send_refusal


@pytest.mark.parametrize(
    ("status", "header"),
    [
        (400, {}),
        (401, {"www-authenticate": "Bearer"}),
        (405, {"allow": "GET, POST, DELETE"}),
        (503, {"retry-after": "5"}),
    ],
)
async def test_a_refusal_is_an_error_of_the_protocol(status: int, header: dict[str, str]):
    """With the reason and the id of the request, if it had one; the connection ends."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await send_refusal(send, Refusal(status, "no", code=-32020, id=7))
    start, end = sent
    headers = {key.decode(): value.decode() for key, value in start["headers"]}
    assert start["status"] == status
    assert headers.items() >= {"connection": "close", **header}.items()
    expected = {"jsonrpc": "2.0", "id": 7, "error": {"code": -32020, "message": "no"}}
    assert json.loads(end["body"]) == expected
    assert headers["content-length"] == str(len(end["body"]))

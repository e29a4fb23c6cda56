"""The head of a client's request."""

from __future__ import annotations

import pytest

from amplifier_foundation.gateway.http.incoming.head import Head, read_head


def test_headers_are_found_in_any_case_and_joined_if_there_are_several():
    """So that two values are never taken for one of them."""
    scope = {"method": "GET", "path": "/x", "headers": [(b"Host", b"a"), (b"host", b"b")]}
    head = read_head(scope)
    assert (head.method, head.path) == ("GET", "/x")
    assert head.get("HOST") == "a, b"
    assert head.get("origin") is None


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, True),
        ("*/*", True),
        ("text/event-stream", True),
        ("application/json, Text/Event-Stream;q=0.5", True),
        ("text/*", True),
        ("application/json", False),
        ("", False),
    ],
)
def test_what_a_client_accepts(accept: str | None, expected: bool):
    """Everything, if it does not say."""
    headers = (("accept", accept),) if accept is not None else ()
    assert Head("GET", "/mcp", headers).accepts("text/event-stream") is expected

"""Pages in a browser that a person has allowed."""

from __future__ import annotations

import pytest

from tests.foundation.gateway.http.incoming.asgi import ask, open_world

PAGE = "http://localhost:5173"
ALLOWED = {"origins": frozenset({PAGE})}


async def test_an_allowed_page_may_ask_and_read():
    """The browser asks first, and then wants to hear it with each answer, also with a refusal."""
    async with open_world(**ALLOWED) as world:
        asked = world.call(
            "OPTIONS",
            origin=PAGE,
            access_control_request_method="POST",
            access_control_request_headers="content-type,mcp-session-id",
            access_control_request_private_network="true",
        )
        await asked.end()
        assert asked.status == 204
        assert asked.headers["access-control-allow-headers"] == "content-type,mcp-session-id"
        assert asked.headers["access-control-allow-private-network"] == "true"
        good = world.post(ask("initialize"), origin=PAGE)
        refused = world.post(b"{", origin=PAGE)
        for call in (good, refused):
            await call.end()
        assert (good.status, refused.status) == (200, 400)
        for call in (asked, good, refused):
            assert call.headers["access-control-allow-origin"] == PAGE
            assert call.headers["access-control-expose-headers"] == "Mcp-Session-Id"
            assert call.headers["vary"] == "Origin"


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:80"])
@pytest.mark.parametrize("method", ["OPTIONS", "POST"])
async def test_no_other_page_is_told_that_it_may(origin: str, method: str):
    """Our own address needs no permission, and has no pages."""
    async with open_world(**ALLOWED) as world:
        call = world.call(method, b"{}", origin=origin, access_control_request_method="POST")
        await call.end()
        assert call.status >= 400
        assert not [name for name in call.headers if name.startswith("access-control-")]


async def test_a_program_hears_nothing_of_pages():
    """It sends no Origin."""
    async with open_world(**ALLOWED) as world:
        call = world.post(ask("initialize"))
        await call.end()
        assert "access-control-allow-origin" not in call.headers
        plain = world.call("OPTIONS", origin=PAGE)
        await plain.end()
        assert plain.status == 405

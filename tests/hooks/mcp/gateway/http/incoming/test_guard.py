"""Who may come in; `tests/hostile` has what no listener accepts."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.gateway.http.incoming.guard import make_door
from amplifier_hooks.mcp.gateway.http.incoming.settings import ListenSettings
from tests.hooks.mcp.gateway.http.incoming.asgi import ask, open_world

TOKEN = "a-token-of-sixteen"
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


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 204),
        ({"origin": "http://localhost:5174"}, 403),
        ({"origin": None}, 401),
        ({"host": "evil.example"}, 421),
        ({"access_control_request_method": None}, 401),
        ({"method": "POST"}, 401),
    ],
)
async def test_a_browser_may_ask_for_an_allowed_page_without_the_token(
    changes: dict[str, str | None], status: int
):
    """It sends none with the question; everything else needs it."""
    asked: dict[str, str | None] = {
        "method": "OPTIONS",
        "origin": PAGE,
        "access_control_request_method": "POST",
        **changes,
    }
    async with open_world(**ALLOWED, token=TOKEN) as world:
        method = asked.pop("method") or ""
        headers = {name: value for name, value in asked.items() if value is not None}
        call = world.call(method, b"", **headers)
        await call.end()
    assert call.status == status


async def test_an_allowed_page_may_be_of_another_site():
    """A browser says so, besides the Origin."""
    async with open_world(**ALLOWED) as world:
        call = world.post(ask("initialize"), origin=PAGE, sec_fetch_site="cross-site")
        await call.end()
    assert call.status == 200


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"accept": "text/html"}, 406),
        ({"accept": "application/json"}, 200),
        ({"content_type": "text/plain"}, 415),
        ({"host": "evil.example"}, 421),
        ({"host": "10.0.0.5:80"}, 421),
    ],
)
async def test_a_refusal_is_an_error_of_the_protocol(changes: dict[str, str], status: int):
    """Which clients can show."""
    async with open_world() as world:
        call = world.post(ask("initialize"), **changes)
        answer = await call.end()
    assert call.status == status
    assert ("error" in answer) == (status != 200)
    assert answer["jsonrpc"] == "2.0"


def test_names_and_addresses_that_are_accepted():
    """Those that a person gave, and the own ones of the port; addresses only as they are used."""
    door = make_door(ListenSettings("0.0.0.0", 80, token=TOKEN, hosts=frozenset({"Tools"})))
    assert door.names == {"tools"}
    assert door.any_own_address
    assert "localhost:80" in door.hosts
    assert not make_door(ListenSettings()).any_own_address

"""Who may come in; `tests/hostile` has what no listener accepts."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.guard import ListenSettings, make_door, parse_address
from tests.hooks.mcp.gateway.http.asgi import ask, open_world

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8080", ("127.0.0.1", 8080)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("localhost:0", ("localhost", 0)),
        ("65535", ("127.0.0.1", 65535)),
        ("[::1]:8080", ("::1", 8080)),
    ],
)
def test_an_address_is_a_port_with_or_without_a_host(text: str, expected: tuple[str, int]):
    """Without one, it is this machine alone."""
    assert parse_address(text) == expected


@pytest.mark.parametrize(
    "text", ["", ":80", "host", "host:", "::1:80", "80:", "65536", "000080", "-1", "٣"]
)
def test_anything_else_is_refused(text: str):
    """With what it should be."""
    with pytest.raises(ChannelError, match=r"is no \[HOST:\]PORT"):
        parse_address(text)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "example.com", ""])
def test_other_machines_need_a_token(host: str):
    """Listening beyond this machine without one is refused."""
    with pytest.raises(ChannelError, match="--token-env"):
        ListenSettings(host)
    assert ListenSettings(host, token=TOKEN).token == TOKEN


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_none(host: str):
    """But may have one."""
    assert ListenSettings(host).token == ""


@pytest.mark.parametrize(
    "token", ["short", "has a space in the midst", "with-a-newline-\n", "é" * 20]
)
def test_a_token_that_is_none_is_refused_without_being_repeated(token: str):
    """It could be a good one with a slip in it."""
    with pytest.raises(ChannelError) as raised:
        ListenSettings(token=token)
    assert token not in str(raised.value)


def test_two_meanings_of_one_header_are_refused():
    """Authorization is for us or for the server."""
    with pytest.raises(ChannelError, match="--pass-authorization"):
        ListenSettings(token=TOKEN, passes_authorization=True)


def test_the_token_is_not_shown():
    """Not in the representation."""
    assert TOKEN not in repr(ListenSettings(token=TOKEN))

"""The address of a server, and the headers that a person gives for it."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.outgoing.address import Address, check_address

SECRET = {"Authorization": "Bearer very-secret"}


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("https://mcp.example.com/mcp", SECRET),
        ("http://127.0.0.1:8000/mcp", SECRET),
        ("http://localhost/mcp", SECRET),
        ("http://tools:8080/mcp", {}),
        ("https://mcp.example.com/mcp?key=secret", {}),
    ],
)
def test_an_address_can_be_used(url: str, headers: dict[str, str]):
    """With TLS, on this machine, or with nothing to hide."""
    assert check_address(url, headers) == Address(url, headers)


@pytest.mark.parametrize(
    ("url", "headers", "reason"),
    [
        ("http://mcp.example.com/mcp", SECRET, "without TLS"),
        ("ftp://host/mcp", {}, "http:// or https://"),
        ("https://user:very-secret@host/mcp", {}, "--header-env"),
        ("https://host:0/mcp", {}, "port 0"),
        ("https://host/a b", {}, "encode them"),
        ("https://host/mcp", {"Authorization": "very-secret\nX: y"}, "'Authorization' is empty or"),
        ("https://host/mcp", {"Authorization": ""}, "'Authorization' is empty or"),
        ("https://host/mcp", {"Authorization": "very-secrét"}, "'Authorization' is empty or"),
        ("https://host/mcp", {"Author ization": "x"}, "no name for a header"),
        ("https://host/mcp", {"Host": "other"}, "set by the gateway"),
        ("https://host/mcp", {"mcp-session-id": "x"}, "set by the gateway"),
    ],
)
def test_an_address_or_header_that_would_not_do_is_refused(
    url: str, headers: dict[str, str], reason: str
):
    """The reason says what is wrong, and never the value of a header."""
    with pytest.raises(ChannelError, match=reason) as raised:
        check_address(url, headers)
    assert "very-secr" not in str(raised.value)


def test_secrets_are_not_shown():
    """Neither in the representation nor in what may be shown."""
    address = check_address("https://mcp.example.com:8443/mcp?key=1", SECRET)
    assert "very-secret" not in repr(address)
    assert address.host == "mcp.example.com:8443"


def test_a_port_that_is_not_stated_is_the_usual_one():
    """Of both schemes."""
    assert Address("http://host/mcp", {}).move("http://host:80/x") is not None
    assert Address("http://host/mcp", {}).move("http://host:81/x") is None


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/mcp/", "https://host/mcp/"),
        ("https://host:443/other", "https://host:443/other"),
        ("https://other/mcp", None),
        ("http://host/mcp", None),
        ("//other/mcp", None),
        ("https://host:444/mcp", None),
        ("https://host:port/mcp", None),
        ("https://user@host/mcp", None),
    ],
)
def test_a_redirect_stays_with_the_server(location: str, expected: str | None):
    """Another scheme, host or port is another server."""
    moved = Address("https://host/mcp", SECRET).move(location)
    assert (moved and moved.url) == expected
    assert moved is None or moved.headers == SECRET

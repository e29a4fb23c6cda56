"""Where clients connect, and which of them may."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.incoming.settings import ListenSettings, parse_address

TOKEN = "a-token-of-sixteen"


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

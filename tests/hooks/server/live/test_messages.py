"""What a client may say over a WebSocket."""

from __future__ import annotations

import json

import pytest

from amplifier_hooks.server.live.socket import (
    MAX_MESSAGE,
    BadMessage,
    Decide,
    Hello,
    Pong,
    Watch,
    parse_hello,
    parse_message,
)

DECIDE = {"type": "decide", "id": "a", "option": 1, "nonce": "n", "key": "k"}


def test_the_messages_of_the_page_are_understood():
    """hello, watch, decide, pong."""
    assert parse_hello('{"type":"hello","session":null,"after":0}') == Hello(type="hello")
    assert parse_message('{"type":"pong"}') == Pong(type="pong")
    assert parse_message('{"type":"watch","session":"s","after":4}') == Watch(
        type="watch", session="s", after=4
    )
    standing = {"scope": "exact", "seconds": 60, "uses": 3}
    message = parse_message(json.dumps({**DECIDE, "standing": standing, "edited_input": {"a": 1}}))
    assert isinstance(message, Decide)
    assert (message.option, message.standing.uses, message.edited_input) == (1, 3, {"a": 1})


@pytest.mark.parametrize(
    "message",
    [
        {**DECIDE, "by": "ann"},
        {**DECIDE, "option": True},
        {**DECIDE, "option": "1"},
        {**DECIDE, "option": 1.0},
        {**DECIDE, "nonce": ""},
        {**DECIDE, "key": "\0"},
        {**DECIDE, "comment": "x" * 4001},
        {**DECIDE, "standing": {"scope": "exact", "seconds": 0}},
        {**DECIDE, "standing": {"scope": "exact", "uses": 0}},
        {"type": "hello"},
        {"type": "Pong"},
        {},
        [],
        "pong",
    ],
)
def test_everything_else_is_refused(message: object):
    """A closed set; nothing is guessed."""
    with pytest.raises(BadMessage):
        parse_message(json.dumps(message))


def test_a_message_says_everything_once():
    """What comes last would count here, and what comes first elsewhere."""
    text = json.dumps(DECIDE).replace('"option": 1', '"option": 0, "option": 1')
    with pytest.raises(BadMessage, match="twice"):
        parse_message(text)


def test_a_message_has_a_size_and_a_depth():
    """Messages at most 64 KiB."""
    with pytest.raises(BadMessage, match="65536"):
        parse_message(" " * (MAX_MESSAGE + 1))
    with pytest.raises(BadMessage):
        parse_message("[" * 60_000)

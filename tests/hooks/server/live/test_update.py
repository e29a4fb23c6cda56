"""One piece of news."""

from __future__ import annotations

import json

from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.server.live.hub import PING, make_update, say


def test_news_are_encoded_once_for_sockets_and_streams():
    """Read once, encoded once, told to all."""
    update = make_update(SessionEntry(id="ä\n"))
    told = json.loads(update.message)
    assert (told["type"], told["session"]["id"]) == ("session", "ä\n")
    event, data, *rest = update.event.split("\n")
    assert event == "event: session"
    assert json.loads(data.removeprefix("data: ")) == told["session"]
    assert rest == ["", ""]
    assert update.message is update.message


def test_a_message_of_its_own_is_what_was_said():
    """Welcome, decided, refused, ping."""
    assert json.loads(say(type="decided", key="k").message) == {"type": "decided", "key": "k"}
    assert json.loads(PING.message) == {"type": "ping"}

"""What is known of the server."""

from __future__ import annotations

import logging

import pytest

from amplifier_hooks.guards.mcp.frames import answer
from amplifier_hooks.mcp.gateway.http.outgoing.conversation import Conversation
from amplifier_hooks.mcp.gateway.http.outgoing.failures import WireError
from tests.hooks.mcp.gateway.http.raw_server import ask, ask_modern, tell

MARKED = {"type": "string", "x-mcp-header": "Region"}
LISTED = {"name": "query", "inputSchema": {"type": "object", "properties": {"region": MARKED}}}


def _begin(conversation: Conversation, session: str = "s1", version: object = "2025-11-25") -> None:
    headers = {"mcp-session-id": session} if session else {}
    conversation.learn(ask("initialize"), answer(1, {"protocolVersion": version}), headers)


def test_a_session_has_its_id_and_version_in_every_message_but_the_first():
    """As the answer to the first one says."""
    conversation = Conversation()
    assert conversation.list_headers(ask("initialize")) == {}
    _begin(conversation)
    expected = {"Mcp-Session-Id": "s1", "MCP-Protocol-Version": "2025-11-25"}
    assert conversation.list_headers(tell("notifications/initialized")) == expected
    assert conversation.list_headers(ask("initialize")) == {}
    stream = conversation.list_stream_headers("e1")
    assert stream == {"Accept": "text/event-stream", "Last-Event-ID": "e1", **expected}


def test_a_server_without_sessions_gets_the_version_only():
    """Nothing is made up."""
    conversation = Conversation()
    _begin(conversation, session="")
    assert conversation.list_headers(ask("ping")) == {"MCP-Protocol-Version": "2025-11-25"}
    _begin(conversation, session="", version=3)
    assert conversation.list_headers(ask("ping")) == {}


@pytest.mark.parametrize("session", ["a b", "é", "x" * 2000])
def test_a_session_that_no_header_can_name_is_an_error(session: str):
    """It could not be used."""
    with pytest.raises(WireError, match="characters"):
        _begin(Conversation(), session)


def test_a_message_that_stands_by_itself_has_no_session():
    """But the headers that repeat it, those of its arguments too."""
    conversation = Conversation()
    _begin(conversation)
    conversation.learn(ask("tools/list"), answer(1, {"tools": [LISTED]}), {})
    call = ask_modern("tools/call", name="query", arguments={"region": "eu"})
    assert conversation.list_headers(call) == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "query",
        "Mcp-Param-Region": "eu",
    }


def test_tools_that_may_not_be_used_over_http_are_left_out(caplog: pytest.LogCaptureFixture):
    """And said; the rest of the list stays as it is."""
    bad = {"name": "bad", "inputSchema": {"properties": {"a": {"x-mcp-header": ""}}}}
    whole = answer(1, {"tools": [bad, LISTED], "nextCursor": "2"})
    with caplog.at_level(logging.WARNING):
        shown = Conversation().learn(ask("tools/list"), whole, {})
    assert shown.message["result"] == {"tools": [LISTED], "nextCursor": "2"}
    assert "'bad' is left out" in caplog.text


@pytest.mark.parametrize("result", [{}, {"tools": {}}, {"tools": [LISTED]}])
def test_other_answers_are_passed_on_as_they_are(result: dict[str, object]):
    """Byte for byte."""
    frame = answer(1, result)
    assert Conversation().learn(ask("tools/list"), frame, {}) is frame

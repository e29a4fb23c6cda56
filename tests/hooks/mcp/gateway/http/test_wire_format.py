"""What HTTP adds to messages."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.mcp.frames import Frame, write_frame
from amplifier_hooks.mcp.gateway.http.wire_format import (
    PING,
    EventError,
    EventReader,
    ParamHeaders,
    ServerEvent,
    decode_value,
    encode_value,
    list_mirrored,
    read_version,
    write_event,
)

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def _ask(method: str, **params: object) -> Frame:
    return write_frame({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (_ask("tools/call", name="add", uri="x", _meta=META), "add"),
        (_ask("prompts/get", name="greet", _meta=META), "greet"),
        (_ask("resources/read", uri="file:///a", name="x", _meta=META), "file:///a"),
        (_ask("tools/list", name="x", _meta=META), None),
        (_ask("tools/call", name=3, _meta=META), None),
    ],
)
def test_version_method_and_name_are_those_of_the_message(frame: Frame, name: str | None):
    """Which field is the name depends on the method."""
    expected = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": frame.method}
    assert list_mirrored(frame) == expected | ({"Mcp-Name": name} if name else {})


@pytest.mark.parametrize("meta", [None, {}, [], {"io.modelcontextprotocol/protocolVersion": 3}])
def test_a_message_of_a_session_has_none(meta: object):
    """Without a version of its own, a message belongs to a session."""
    frame = _ask("tools/call", name="add", _meta=meta)
    assert read_version(frame) is None
    assert list_mirrored(frame) == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64?begins", "=?base64?begins"),
        ("ends?=", "ends?="),
        (True, "true"),
        (-7, "-7"),
        ("", "=?base64??="),
    ],
)
def test_values_are_encoded_as_the_protocol_shows(value: object, expected: str):
    """The examples of the specification, and the empty text."""
    assert encode_value(value) == expected


@given(st.text())
def test_every_text_comes_back_and_no_header_can_be_smuggled_in(text: str):
    """Whatever the text is, the header is one line of plain characters."""
    encoded = encode_value(text)
    assert re.fullmatch(r"[\x20-\x7e\t]+", encoded)
    assert encoded == encoded.strip()
    assert decode_value(encoded) == text


def test_only_a_whole_mark_is_one():
    """What merely begins or ends like one means itself."""
    assert [decode_value(one) for one in ("=?base64?x", "x?=")] == ["=?base64?x", "x?="]


@pytest.mark.parametrize("value", ["=?base64?*?=", "=?base64?abc?=", "=?base64?/w==?="])
def test_what_is_not_encoded_well_says_nothing(value: str):
    """It cannot be equal to anything."""
    assert decode_value(value) is None


def _call(name: str, arguments: Any) -> Frame:
    params = {"name": name, "arguments": arguments}
    return write_frame({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def _tool(**properties: Any) -> dict[str, Any]:
    return {"name": "query", "inputSchema": {"type": "object", "properties": properties}}


def _mark(name: Any, kind: Any = "string") -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": name}


NESTED = _tool(
    region=_mark("Region"),
    size=_mark("Size", "integer"),
    dry=_mark("Dry", ["boolean", "null"]),
    place={"type": "object", "properties": {"zone": _mark("Zone")}},
)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"region": "eu"}, {"Mcp-Param-Region": "eu"}),
        ({"region": "é"}, {"Mcp-Param-Region": "=?base64?w6k=?="}),
        ({"size": 3, "dry": False}, {"Mcp-Param-Size": "3", "Mcp-Param-Dry": "false"}),
        ({"size": 42.0}, {"Mcp-Param-Size": "42"}),
        ({"place": {"zone": "a"}, "zone": "b"}, {"Mcp-Param-Zone": "a"}),
        ({"region": None, "place": "a", "other": 1}, {}),
        ({"region": ["eu"]}, {}),
        (None, {}),
        ("text", {}),
    ],
)
def test_headers_are_read_from_the_arguments_that_are_sent(
    arguments: Any, expected: dict[str, str]
):
    """At the exact path; nothing for what is not there."""
    params = ParamHeaders()
    assert params.learn([NESTED]) == {}
    assert params.list_headers(_call("query", arguments)) == expected


def test_only_calls_of_known_tools_have_them():
    """Other methods, and tools that were not listed, have none."""
    params = ParamHeaders()
    params.learn([NESTED])
    assert params.list_headers(_call("other", {"region": "eu"})) == {}
    got = {"name": "query", "arguments": {"region": "eu"}}
    frame = write_frame({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": got})
    assert params.list_headers(frame) == {}


@pytest.mark.parametrize(
    "tool",
    [
        _tool(a=_mark("")),
        _tool(a=_mark("A\r\nEvil: x")),
        _tool(a=_mark(3)),
        _tool(a=_mark("A"), b=_mark("a")),
        _tool(a=_mark("A", "number")),
        _tool(a=_mark("A", "object")),
        _tool(a=_mark("A", [{}])),
        _tool(a={"type": "array", "items": _mark("A")}),
        _tool(a={"anyOf": [_mark("A")]}),
        {"name": "query", "inputSchema": {"$defs": {"a": _mark("A")}}},
        {"name": "query", "inputSchema": _mark("A")},
    ],
)
def test_a_tool_that_wants_what_is_not_allowed_is_refused(tool: dict[str, Any]):
    """A header must be a name, be there once, and have one fixed argument; none is made else."""
    params = ParamHeaders()
    params.learn([NESTED])
    assert "x-mcp-header" in params.learn([tool])["query"]
    assert params.list_headers(_call("query", {"a": "x", "region": "eu"})) == {}


def test_values_that_only_look_like_marks_are_none():
    """A property may have that name, and an example may show it."""
    tool = _tool(**{"x-mcp-header": {"type": "string", "default": {"x-mcp-header": 1}}})
    assert ParamHeaders().learn([tool, "rubbish", {"name": 3}]) == {}


def test_the_last_list_counts():
    """A tool that no longer wants a header gets none."""
    params = ParamHeaders()
    params.learn([NESTED])
    params.learn([_tool(region={"type": "string"})])
    assert params.list_headers(_call("query", {"region": "eu"})) == {}


MESSAGES = st.lists(
    st.dictionaries(st.text(max_size=4), st.text(max_size=12), max_size=3), max_size=5
)


def _cut(raw: bytes, places: list[int]) -> list[bytes]:
    borders = sorted({0, len(raw), *(place % (len(raw) + 1) for place in places)})
    return [raw[start:end] for start, end in pairwise(borders)]


def _write(messages: list[dict[str, str]], line_end: str) -> bytes:
    """Events with comments, ids, and data over several lines."""
    lines = [": hello", ""]
    for number, message in enumerate(messages):
        text = json.dumps(message, indent=1 if number % 2 else None)
        lines += [f"id: {number}", *(f"data: {line}" for line in text.splitlines()), ":", ""]
    return line_end.join([*lines, ""]).encode()


@given(MESSAGES, st.sampled_from(["\n", "\r", "\r\n"]), st.lists(st.integers(0), max_size=30))
def test_any_cut_of_the_bytes_gives_the_same_messages(
    messages: list[dict[str, str]], line_end: str, places: list[int]
):
    """The reader is independent of chunks and of the kind of line end."""
    reader = EventReader()
    found = [
        event for chunk in _cut(_write(messages, line_end), places) for event in reader.feed(chunk)
    ]
    assert [json.loads(event.data) for event in found] == messages
    assert reader.last_id == (str(len(messages) - 1) if messages else "")


@given(st.binary(max_size=300), st.lists(st.integers(0), max_size=10))
def test_rubbish_is_read_the_same_however_it_is_cut(raw: bytes, places: list[int]):
    """No bytes make the reader fail, or see other events in other chunks."""
    whole, cut = EventReader(), EventReader()
    events = whole.feed(raw)
    assert [event for chunk in _cut(raw, places) for event in cut.feed(chunk)] == events
    assert (cut.last_id, cut.retry) == (whole.last_id, whole.retry)


@given(MESSAGES)
def test_what_is_written_can_be_read(messages: list[dict[str, str]]):
    """Events of ours, with pings between them, give the messages back."""
    raw = b"".join(write_event(json.dumps(one).encode()) + PING for one in messages)
    assert [json.loads(event.data) for event in EventReader().feed(raw)] == messages


def test_half_an_event_at_the_end_is_no_event():
    """What was not ended by an empty line does not count, nor does its id."""
    reader = EventReader()
    assert reader.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n") == [ServerEvent("message", b"a")]
    assert reader.last_id == "1"


def test_after_a_break_the_rest_of_an_event_is_forgotten():
    """The half before the break is not joined to what comes after it."""
    reader = EventReader()
    reader.feed(b'id: 1\ndata: {"a"\n\ndata: half')
    reader.discard_rest()
    assert reader.feed(b"data: whole\n\n") == [ServerEvent("message", b"whole")]
    assert reader.last_id == "1"


def test_an_event_without_data_only_says_where_to_go_on():
    """Servers begin a stream with an id and no data."""
    reader = EventReader()
    assert reader.feed(b"id: 7\nretry: 250\ndata:\n\n") == []
    assert (reader.last_id, reader.retry) == ("7", 0.25)


@pytest.mark.parametrize("line", [b"retry: soon", b"retry: -1", b"retry: 99999999999", b"id: a\0b"])
def test_fields_that_say_nothing_are_passed_over(line: bytes):
    """A bad waiting time or id is as good as none."""
    reader = EventReader()
    assert reader.feed(line + b"\ndata: x\n\n") == [ServerEvent("message", b"x")]
    assert (reader.last_id, reader.retry) == ("", None)


@pytest.mark.parametrize(
    "chunk", [b"data: " + b"x" * 200, b"data: x\n" * 40, b"data: x\n" * 40 + b"\n"]
)
def test_an_event_that_is_too_large_is_an_error(chunk: bytes):
    """On one line or many, complete or not: memory has an end."""
    with pytest.raises(EventError, match="more than 100 bytes"):
        EventReader(largest=100).feed(chunk)


def test_the_limit_is_for_each_event():
    """Many small ones are no large one."""
    assert len(EventReader(largest=20).feed(b"data: 0123456789\n\n" * 50)) == 50


def test_other_kinds_of_events_keep_their_kind():
    """Old servers say `endpoint` first; that is no message."""
    assert EventReader().feed(b"\xef\xbb\xbfevent: endpoint\ndata: /x\n\n") == [
        ServerEvent("endpoint", b"/x")
    ]


def test_the_wait_grows_unless_the_server_says_how_long():
    """Not without pause, and not for hours."""
    reader = EventReader()
    assert [reader.find_wait(trial) for trial in (0, 1, 99)] == [1, 2, 60]
    reader.retry = 0
    assert reader.find_wait(5) == 0.05
    reader.retry = 9e6
    assert reader.find_wait(0) == 60

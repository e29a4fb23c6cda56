"""Server-sent events: the same messages wherever the bytes are cut."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.mcp.gateway.http.sse import (
    PING,
    EventError,
    EventReader,
    ServerEvent,
    write_event,
)

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
    reader.forget_rest()
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

"""Headers that repeat what a message says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.mcp.frames import Frame, write_frame
from amplifier_hooks.mcp.gateway.http.mirrored_headers import (
    decode_value,
    encode_value,
    list_mirrored,
    read_version,
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

"""The messages between a session and the writer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.messages import (
    BadMessage,
    decode_message,
    encode_append,
    encode_message,
    read_count,
    read_text,
)


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=50), min_size=1, max_size=5))
def test_a_message_comes_back_as_it_was(members: dict[str, str]) -> None:
    """On one line, whatever it says."""
    line = encode_message(**members)
    assert line.count(b"\n") == 1
    assert decode_message(line) == members


def test_a_record_is_a_message_with_all_its_members() -> None:
    """Types that only the log may write are marked."""
    line = encode_append(7, ("checkpoint", "s", 1, "tool:pre", "h\u00e9", 3), b'{"a":1}')
    message = decode_message(line)
    assert (message["append"], message["type"], message["body"]) == (7, "x_checkpoint", {"a": 1})
    assert (message["hook"], message["registration"]) == ("h\u00e9", 3)


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"{}\n", b"5\n", b'{"a":1,"a":2}\n', b'{"a":NaN}\n', b'{"a":"\xff"}\n']
)
def test_a_line_that_is_no_message_is_refused(line: bytes) -> None:
    """As strictly as the lines of a log are read."""
    with pytest.raises(BadMessage):
        decode_message(line)


@pytest.mark.parametrize("value", [-1, True, "1", None, 1.5])
def test_a_count_is_a_count(value: object) -> None:
    """Else a session could confuse the writer."""
    assert read_count({"n": 3}, "n") == 3
    with pytest.raises(BadMessage, match="n is a number of records"):
        read_count({"n": value}, "n")


@pytest.mark.parametrize("value", [None, 5, "x" * 2000])
def test_a_text_is_a_text_within_its_limit(value: object) -> None:
    """It becomes the name of a folder, or a key in memory."""
    assert read_text({"n": "x"}, "n") == "x"
    with pytest.raises(BadMessage, match="n is a text"):
        read_text({"n": value}, "n")

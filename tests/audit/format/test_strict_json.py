"""Strict JSON: what two parsers could read in two ways is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.errors import MalformedRecord
from amplifier_audit.strict_json import SAFE_INTEGER, read_json

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-SAFE_INTEGER, SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=30)
)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=9), inner, max_size=5)
    ),
    max_leaves=15,
)

ODD = [
    (b'{"a":1,"a":2}', "twice"),
    (b'{"a":{"b":1,"b":1}}', "twice"),
    (b'{"a":1,"\\u0061":2}', "twice"),
    (b'{"a":NaN}', "NaN"),
    (b'{"a":-Infinity}', "Infinity"),
    (b'{"a":1e999}', "out of range"),
    (b'{"a":9007199254740993}', "2^53"),
    (b'{"a":-9007199254740993}', "2^53"),
    (b'{"a":-99999999999999999999}', "2^53"),
    (b"[" + b"9" * 5000 + b"]", "2^53"),
    (b'{"a":"\\ud800"}', "surrogate"),
    (b'{"a":"\\uD800"}', "surrogate"),
    (b'{"\\udfff":1}', "surrogate"),
    (b'{"a":"\\ud83d\\ud83d\\ude00"}', "surrogate"),
    (b'{"a":"\\ude00\\ud83d"}', "surrogate"),
    (b'{"a":1}\r', "printable"),
    (b'\xef\xbb\xbf{"a":1}', "printable"),
    (b'{"a":"\x00"}', "printable"),
    (b'{"a":"\x7f"}', "printable"),
    (b'{"a":"\xc3\xa9"}', "printable"),
    (b'{"a":\t1}', "printable"),
    (b'{"a":1}{}', "after the end"),
    (b'{"a":1} ', "after the end"),
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b"{1:2}", "not JSON"),
    (b"{'a':1}", "not JSON"),
    (b'{"a":1,}', "not JSON"),
    (b'{"a":01}', "not JSON"),
    (b" 1", "not JSON"),
    (b'"\\x"', "not JSON"),
    (b"[" * 30_000, "not JSON"),
    (b'{"a":' * 30_000, "not JSON"),
]


@pytest.mark.parametrize(("content", "word"), ODD, ids=[str(n) for n in range(len(ODD))])
def test_what_no_writer_writes_is_refused(content: bytes, word: str) -> None:
    """Each kind with the word that says what is wrong."""
    with pytest.raises(MalformedRecord) as error:
        read_json(content)
    assert word in str(error.value)


@given(PLAIN)
def test_what_the_standard_library_writes_in_ascii_is_read_as_it_was(value: Any) -> None:
    """Strict is not narrow: every plain value passes."""
    text = json.dumps(value).replace("\x7f", "\\u007f")
    assert read_json(text.encode("ascii")) == value


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=60))
def test_any_printable_text_is_read_as_others_read_it_or_refused(text: str) -> None:
    """What passes means the same to every parser."""
    try:
        value = read_json(text.encode())
    except MalformedRecord:
        return
    assert value == json.loads(text)


@given(st.lists(st.sampled_from(["\\ud83d", "\\ude00", "\\uDE00", "\\\\", "d", "u", "a"])))
def test_a_surrogate_passes_exactly_when_it_is_half_of_a_pair(parts: list[str]) -> None:
    """However pairs, halves and backslashes stand beside one another."""
    text = '"' + "".join(parts) + '"'
    try:
        json.loads(text).encode()
    except UnicodeEncodeError:
        with pytest.raises(MalformedRecord, match="surrogate"):
            read_json(text.encode())
    else:
        assert read_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("number", [SAFE_INTEGER, -SAFE_INTEGER, 0, 10**15])
def test_integers_up_to_the_limit_are_exact(number: int) -> None:
    """Those are the integers that every language can hold."""
    assert read_json(b'{"a":%d}' % number) == {"a": number}


def test_a_long_run_of_digits_in_a_text_is_no_integer() -> None:
    """Only numbers are held to the limit."""
    assert read_json(b'{"a":"99999999999999999999","b":1}') == {"a": "9" * 20, "b": 1}
    assert read_json(b'{"a":0.12345678901234567890}') == {"a": 0.12345678901234568}

"""Other readings of a text, which know where each letter stands in the original."""

from __future__ import annotations

import base64
from urllib.parse import quote, unquote

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.secrets.encodings import (
    find_base64,
    read_percent,
    read_wrapped,
)


@given(
    st.text(st.characters(max_codepoint=127), min_size=1).filter(lambda text: quote(text) != text)
)
def test_percent_escapes_are_read_and_located(text: str) -> None:
    """Each letter of the reading is found where its escape begins."""
    written = quote(text, "")
    reading = read_percent(written)
    assert reading is not None
    assert reading.text == unquote(written)
    for place, letter in enumerate(reading.text):
        start, end = reading.locate(place, place + 1)
        assert written[start] in {letter, "%"}
        assert end == start + 1


def test_a_text_without_escapes_has_no_other_reading() -> None:
    """Nothing is paid where nothing is encoded."""
    assert read_percent("100% of it") is None
    assert read_wrapped("two\nlines") is None
    assert read_wrapped("ghp_ at the beginning of a word") is None


def test_lines_are_joined_where_a_token_runs_over_their_end() -> None:
    """The reading has no line ends, and its parts are located over them."""
    text = "x ghp_abc\n  def y"
    reading = read_wrapped(text)
    assert reading is not None
    assert reading.text == "x ghp_abcdef y"
    assert reading.locate(2, 12) == (2, len("x ghp_abc\n  def"))


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=18, max_size=60))
def test_printable_base64_is_read(said: str) -> None:
    """Standard and URL-safe, with and without padding."""
    for encoder in (base64.b64encode, base64.urlsafe_b64encode):
        word = encoder(said.encode()).decode()
        for written in (word, word.rstrip("=")):
            assert [one for *_, one in find_base64(f"a: {written}\n")] == [said]


def test_what_is_not_text_in_base64_is_no_reading() -> None:
    """Hashes, names and pictures decode to nothing that can be read."""
    assert list(find_base64(base64.b64encode(bytes(range(128, 200))).decode())) == []

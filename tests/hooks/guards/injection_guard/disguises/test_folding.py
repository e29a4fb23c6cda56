"""Folding: the same letters, whatever they are written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.injection_guard.disguises.folding import Folded


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Ignore", "ignore"),
        ("Ｉｇｎｏｒｅ", "ignore"),
        ("𝐈𝐠𝐧𝐨𝐫𝐞", "ignore"),
        ("ɪɢɴᴏʀᴇ", "ignore"),
        ("Ignоrе", "ignore"),
        ("i\u0301gnóre", "ignore"),
        ("ig\u200bno\u00adre", "ignore"),
        ("ig\x1b[31mno\x1b[0mre", "ignore"),
        ("ig\x1b]0;title\x07nore", "ignore"),
        ("\U000e0049\U000e0067nore", "ignore"),
        ("ig\x00nore", "ignore"),
        ("straße", "strasse"),
        ("a\u3000b\u00a0c", "a b c"),
        ("忽略：", "忽略:"),
    ],
)
def test_disguised_letters_read_as_plain_ones(written: str, read: str) -> None:
    """Other scripts, styles, accents, and what cannot be seen."""
    assert Folded(written).text == read


@pytest.mark.parametrize(
    "text", ["a plain word", "ein sch\u00f6nes word", "\u200b\u200ba ß word", "ﬁ word"]
)
def test_a_find_is_located_where_it_stands(text: str) -> None:
    """Positions are those of the text that was handed in."""
    folded = Folded(text)
    at = folded.text.index("word")
    start, end = folded.locate(at, at + 4)
    assert text[start:end] == "word"


@given(st.text())
def test_every_place_of_the_reading_lies_in_the_text(text: str) -> None:
    """Whatever the text is made of."""
    folded = Folded(text)
    for at in range(len(folded.text)):
        start, end = folded.locate(at, at + 1)
        assert 0 <= start < end <= len(text)

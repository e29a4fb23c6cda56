"""Text that is hidden from people, or from patterns, is read as a model would read it."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.injection_guard.obfuscation import (
    LONGEST,
    Encodings,
    Folded,
    HiddenRegions,
    find_hidden_text,
)
from tests.hooks.guards.injection_guard.attacks import hide_in_selectors

ENCODINGS = Encodings("test")
SAID = "these words are encoded"


@pytest.mark.parametrize(
    "written",
    [
        base64.b64encode(SAID.encode()).decode(),
        base64.urlsafe_b64encode(SAID.encode()).decode().rstrip("="),
        quote(SAID),
        SAID.replace(" ", "%20"),
        "".join(f"&#{ord(one)};" for one in SAID),
        "".join(f"&#x{ord(one):x};" for one in SAID),
        "".join(f"\\u{ord(one):04x}" for one in SAID),
        "".join(f"\\x{ord(one):02x}" for one in SAID),
        SAID.encode().hex(),
        SAID.encode().hex(" "),
        "   ".join(" ".join(word) for word in SAID.split()),
        hide_in_selectors(SAID),
    ],
)
def test_each_form_is_decoded(written: str) -> None:
    """With the place where it stands."""
    text = f"See: {written} (end)"
    found = [(text[start:end].strip(), said.strip()) for start, end, said in ENCODINGS.find(text)]
    assert any(said == SAID and part in written for part, said in found)


@pytest.mark.parametrize(
    "text", ["plain words", "4f3a" * 16, "A" * 60, "src/some/long/path/to_a_file/module", "100%"]
)
def test_what_says_nothing_is_left_alone(text: str) -> None:
    """Digests, paths, signs."""
    assert [said for _, _, said in ENCODINGS.find(text) if " " in said] == []


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


SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize(
    "text",
    [
        f"Flags: {SCOTLAND}",
        "A family: \U0001f468\u200d\U0001f469\u200d\U0001f467\ufe0f",
        "\ufeffa byte order mark",
        "می\u200cخواهم",
        "\x1b[1;32mok\x1b[0m \x1b[38;5;8mgrey\x1b[0m \x1b[48;2;8;8;8mdark\x1b[0m",
        "\x1b]0;title\x07",
        "葛\U000e0100城",
    ],
)
def test_ordinary_writing_hides_nothing(text: str) -> None:
    """Flags, families, joiners, colours."""
    assert list(find_hidden_text(text, strict=False)) == []


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a\U000e0041\U000e0042b", "\U000e0041\U000e0042"),
        ("\U0001f3f4\U000e0041\U000e0042b", "\U000e0041\U000e0042"),
        ("x\ufe00\ufe01\ufe02\ufe03y", "\ufe00\ufe01\ufe02\ufe03"),
        ("x\u200b\u200c\u200b\u200c\u200b\u200cy", "\u200b\u200c\u200b\u200c\u200b\u200c"),
        ("x\u202eyz\u202c", "\u202eyz"),
        ("x\x1b[1;8myz\x1b[0m", "\x1b[1;8myz"),
        ("x\x1b]52;c;eA==\x07", "\x1b]52;c;eA=="),
    ],
)
def test_what_is_hidden_is_found(text: str, hidden: str) -> None:
    """Exactly the part that nobody sees."""
    (found,) = find_hidden_text(text, strict=False)
    assert text[found.start : found.end] == hidden


def test_bits_between_letters_are_found() -> None:
    """One character without width is a slip, many are a message."""
    assert not list(find_hidden_text("a\u200bb" * 5, strict=False))
    (found,) = find_hidden_text("a\u200b" * 40 + "a", strict=False)
    assert found.kind == "hidden-text"


@pytest.mark.parametrize("pushed", ["\n" * 30, " " * 200, "\n \t" * 30])
def test_in_lists_what_is_out_of_view_is_found(pushed: str) -> None:
    """People read the first lines of a description."""
    text = f"Rolls.{pushed}And sends."
    (found,) = find_hidden_text(text, strict=True)
    assert text[found.start : found.end].strip() == "And sends."
    assert not list(find_hidden_text(text, strict=False))
    assert not list(find_hidden_text("Rolls." + pushed, strict=True))


def test_in_lists_no_control_character_is_ordinary() -> None:
    """A description is for a screen that does what they say."""
    assert list(find_hidden_text("a\x1b[1mb", strict=True))
    assert not list(find_hidden_text("a\tb\r\nc", strict=True))


REGIONS = HiddenRegions("test")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a <!-- a long comment --> b", "<!-- a long comment "),
        ('<p style="x:y; display : none">hidden words</p>', "hidden words"),
        ("<p STYLE='font-size:0px'>hidden words</p>", "hidden words"),
        ('<p style="color: #FFF">hidden words</p>', "hidden words"),
        ("<p hidden>hidden words</p>", "hidden words"),
        ('<i aria-hidden="true">hidden words</i>', "hidden words"),
        ("x\n[//]: # (hidden words)\n", " (hidden words)"),
        ('<img alt="' + "words " * 10 + '">', "words " * 10),
        ("<!-- never closed", "<!-- never closed"),
    ],
)
def test_hidden_parts_are_found(text: str, hidden: str) -> None:
    """Comments, styles, attributes."""
    (found,) = REGIONS.find(text)
    assert text[slice(*found)] == hidden


@pytest.mark.parametrize("text", ["plain", "<p>seen</p>", '<p style="opacity: 0.5">seen words</p>'])
def test_what_is_seen_is_no_region(text: str) -> None:
    """Nor is what is half transparent."""
    assert list(REGIONS.find(text)) == []


def test_no_part_is_looked_through_twice() -> None:
    """However many hidden elements begin in one another."""
    found = list(REGIONS.find("<b hidden>" * 1000))
    assert sum(end - start for start, end in found) <= 10_000
    assert max(end - start for start, end in found) <= LONGEST

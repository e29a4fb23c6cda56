"""What a hook or a model wrote cannot move, hide or reorder anything on the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.text.escape import escape, get_first_line, make_readable, unescape
from tests.hooks.cli.hostile_text import hostile, is_harmless, make_prompts

BLANK = [
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F),
    *(0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159, 0xFE00, 0xFE0F, 0xE0100, 0xE01EF),
]


def test_characters_that_nobody_can_see_are_escapes_wherever_they_stand() -> None:
    """Fillers and selectors count as printable, and yet two texts with and without look alike."""
    wrong = [hex(code) for code in BLANK if escape(f"a{chr(code)}") != f"a\\u{{{code:X}}}"]
    assert wrong == []
    assert escape("a\ufe10") == "a\ufe10"  # the first that can be seen again


@given(hostile)
def test_no_control_or_bidi_character_is_shown(text: str) -> None:
    """Whatever the text, what is shown stays where it is."""
    assert is_harmless(escape(text))


@given(hostile, st.booleans(), st.booleans())
def test_the_shown_text_maps_back_to_the_exact_argument(
    text: str, lines: bool, ascii_only: bool
) -> None:
    """Nothing is lost: what is read on the screen is what would run, byte for byte."""
    shown = escape(text, lines=lines, ascii_only=ascii_only)
    assert unescape(shown) == text
    assert is_harmless(shown, lines=lines)
    assert shown.isascii() or not ascii_only


@given(hostile, hostile)
def test_two_texts_never_look_alike(one: str, other: str) -> None:
    """Two texts that look the same are the same."""
    assert (escape(one) == escape(other)) == (one == other)


@given(hostile)
def test_with_lines_only_the_text_s_own_newlines_break_lines(text: str) -> None:
    """A forged line break (CR, NEL, U+2028, vertical tab) never starts a line."""
    assert len(escape(text, lines=True).splitlines() or [""]) <= text.count("\n") + 1


@pytest.mark.parametrize(
    "text", ["rm -rf build", r"grep '\.py' \\server", "Grüße, 東京, café, שלום"]
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Ordinary letters and printable characters stay as they are."""
    assert escape(text) == text


def test_escapes_are_readable() -> None:
    """A person sees which character it was."""
    assert escape("a\x1b[2K\u202eb\tc\nd") == "a\\u{1B}[2K\\u{202E}b⇥c\\u{A}d"
    assert escape("a\nb", lines=True) == "a\nb"
    assert escape("\\u{1B}") == "\\u{5C}u{1B}"


def test_a_combining_mark_never_sits_on_the_frame_nor_piles_up() -> None:
    """Marks that would touch other lines or the text before are escapes."""
    assert escape("\u0301a") == "\\u{301}a"
    assert escape("e\u0301") == "e\u0301"
    assert escape("e" + "\u0301" * 6) == "e" + "\u0301" * 4 + "\\u{301}" * 2
    assert escape("x\n\u0301", lines=True) == "x\n\\u{301}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a \u0301", "a \\u{301}"),  # on blank space
        ("\t\u0301", "⇥\\u{301}"),
        ("\x1b\u0301", "\\u{1B}\\u{301}"),
        ("\u202e\u0301", "\\u{202E}\\u{301}"),
        ("ü\u0301", "ü\u0301"),
        ("東" + "\u0301" * 5, "東" + "\u0301" * 4 + "\\u{301}"),
        ("ü\u0301" * 5, "ü\u0301" * 5),  # each letter has its own
        ("a\u20dd", "a\\u{20DD}"),  # a circle around the letter
        ("क\u093e", "क\u093e"),  # one that has a width
    ],
)
def test_a_mark_is_shown_on_a_letter_and_nowhere_else(text: str, shown: str) -> None:
    """At most four of them, and none around a letter."""
    assert escape(text) == shown


@pytest.mark.parametrize("codepoint", range(0x20))
def test_every_c0_control_is_an_escape(codepoint: int) -> None:
    """None of the C0 controls reaches the terminal, tab and newline included."""
    assert is_harmless(escape(chr(codepoint)))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("step", [31, pytest.param(1, marks=pytest.mark.slow)])
def test_every_code_point_comes_back(step: int) -> None:
    """All 1,114,112 code points (here some of them), each alone and shown harmlessly."""
    every = [chr(code) for code in range(0, 0x110000, step)]
    assert all(unescape(escape(ch)) == ch and is_harmless(escape(ch)) for ch in every)


def test_a_megabyte_on_one_line_is_quick() -> None:
    """A line as long as that is neither cut nor waited for."""
    text = "\x1b[2K\u202e" * 200_000
    assert unescape(escape(text)) == text


@pytest.mark.timeout(300)
@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_generated_hostile_prompts_are_harmless_and_come_back(count: int) -> None:
    """However many are made up: none reaches the terminal as it is, and all can be read back."""
    for text in make_prompts(count):
        shown = escape(text)
        assert is_harmless(shown), ascii(text)
        assert unescape(shown) == text, ascii(text)


@pytest.mark.slow
@pytest.mark.timeout(300)
@settings(max_examples=5_000, deadline=None)
@given(hostile)
def test_hypothesis_finds_no_way_around(text: str) -> None:
    """The same rules under a longer search."""
    assert is_harmless(escape(text, lines=True), lines=True)
    assert unescape(escape(text, lines=True)) == text


@given(hostile)
def test_text_for_reading_is_harmless_too(text: str) -> None:
    """It keeps its lines; nothing else in it moves anything."""
    assert is_harmless(make_readable(text), lines=True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "a    b"),
        ("a\r\nb", "a\nb"),
        ("\u2764\ufe0f", "\u2764"),
        ("a\rb", "a\\u{D}b"),
    ],
)
def test_text_for_reading_looks_as_it_was_meant(text: str, shown: str) -> None:
    """Tabs as spaces, lines of any system, hearts without a selector; a bare return stands out."""
    assert make_readable(text) == shown


def test_a_first_line_is_one_line_of_a_length() -> None:
    """Empty lines before it do not count; a sign says that it was cut."""
    assert get_first_line("\n  one\ntwo") == "one"
    assert get_first_line("") == ""
    assert get_first_line("x" * 500) == "x" * 399 + "…"
    assert get_first_line("abcdef", 4) == "abc…"
    assert get_first_line("abcd", 4) == "abcd"

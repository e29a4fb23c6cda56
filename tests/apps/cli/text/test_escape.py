"""T17: what a hook or a model wrote cannot move, hide or reorder anything on the terminal."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_apps.cli.text.escape import TAB, escape, unescape

NASTY = [
    "\x1b[2K",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202egnp.exe",
    "\u2066\u2069",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\r",
    "\x08",
    "\x7f",
    "\x00",
    "\u2028",
    "\u2029",
    "\x85",
    "\u00a0",
    "\u3164",
    "\u2800",
    "\ufe0f",
    "\U000e0041",
    "\U000e0100",
    "\ue000",
    "\ud800",
    "\udfff",
    "\uffff",
    "\u0301" * 30,
    "\u20dd",
    "\\u{1B}",
    "\\u{5C}",
    "\\\\u{41}",
    TAB,
    "\t",
    "[bold red]x[/]",
    "/tmp/hello\x1b[/../../etc/hosts",
]
FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Me"}
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

hostile = st.lists(
    st.one_of(st.sampled_from(NASTY), st.text(st.characters(codec=None), max_size=8)), max_size=12
).map("".join)


def harmless(shown: str, *, lines: bool = False) -> bool:
    """Nothing in it is a control, format, bidi, separator, surrogate or unassigned character."""
    body = shown.replace("\n", "") if lines else shown
    return not any(ch in BIDI or unicodedata.category(ch) in FORBIDDEN for ch in body)


@given(hostile)
def test_no_control_or_bidi_character_is_shown(text: str) -> None:
    """Escape visibly and reversibly, never strip."""
    assert harmless(escape(text))


@given(hostile, st.booleans(), st.booleans())
def test_the_shown_text_maps_back_to_the_exact_argument(
    text: str, lines: bool, ascii_only: bool
) -> None:
    """The shown text maps back to the exact argument."""
    shown = escape(text, lines=lines, ascii_only=ascii_only)
    assert unescape(shown) == text
    assert harmless(shown, lines=lines)
    assert shown.isascii() or not ascii_only


@given(hostile, hostile)
def test_two_texts_never_look_alike(one: str, other: str) -> None:
    """The mapping is injective."""
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


@pytest.mark.parametrize("codepoint", range(0x20))
def test_every_c0_control_is_an_escape(codepoint: int) -> None:
    """None of the C0 controls reaches the terminal, tab and newline included."""
    assert harmless(escape(chr(codepoint)))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_every_code_point_comes_back(step: int) -> None:
    """All 1,114,112 code points (here every seventh), each alone and shown harmlessly."""
    every = [chr(code) for code in range(0, 0x110000, step)]
    assert all(unescape(escape(ch)) == ch and harmless(escape(ch)) for ch in every)


def test_a_megabyte_on_one_line_is_quick() -> None:
    """T17: a 1 MB line."""
    text = "\x1b[2K\u202e" * 200_000
    assert unescape(escape(text)) == text


def _hostile_prompts(count: int) -> list[str]:
    """Made without Hypothesis, so that a hundred thousand take seconds; the seed is fixed."""
    rng = random.Random(17)
    alphabet = [*NASTY, "Allow?", "rm -rf /", " ", "\n", "é", "漢", "😀"]

    def piece() -> str:
        return rng.choice(alphabet) if rng.random() < 0.6 else chr(rng.randrange(0x110000))

    return ["".join(piece() for _ in range(rng.randrange(1, 25))) for _ in range(count)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_generated_hostile_prompts_are_harmless_and_come_back(count: int) -> None:
    """100,000 hostile prompts: none reaches the terminal as it is, all map back exactly."""
    for text in _hostile_prompts(count):
        shown = escape(text)
        assert harmless(shown), ascii(text)
        assert unescape(shown) == text, ascii(text)


@pytest.mark.slow
@pytest.mark.timeout(300)
@settings(max_examples=5_000, deadline=None)
@given(hostile)
def test_hypothesis_finds_no_way_around(text: str) -> None:
    """The same rules under a longer search."""
    assert harmless(escape(text, lines=True), lines=True)
    assert unescape(escape(text, lines=True)) == text

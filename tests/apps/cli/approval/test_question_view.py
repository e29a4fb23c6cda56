"""The screen of a question: complete, inside the terminal, and nothing on it moves."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_apps.cli.approval.choice import Choice, allows, letters_of
from amplifier_apps.cli.approval.preview import preview
from amplifier_apps.cli.approval.question_view import QuestionState, countdown, screen, to_ascii
from amplifier_apps.cli.text.escape import unescape
from amplifier_apps.cli.text.fragments import CONTINUED, GUTTER, boxed, plain, styled, wrap_words
from amplifier_core.approval import ApprovalQuestion
from tests.apps.cli.text.test_escape import BIDI, FORBIDDEN, _hostile_prompts, hostile

DENIED = ("Allow", "Deny")


def state_of(text: str, options: tuple[str, ...] = DENIED) -> QuestionState:
    question = ApprovalQuestion(
        text, options, 60, "deny", hook=text, reason=text, tool_name="Tool", tool_input={"x": text}
    )
    view = preview("Tool", question.tool_input, Path())
    return QuestionState(question, view, Choice.among(options))


def cells(text: str) -> int:
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(text)


@given(hostile, st.integers(20, 220), st.integers(8, 60))
def test_the_screen_stays_inside_the_terminal(text: str, columns: int, rows: int) -> None:
    """No row is wider and no screen higher than the terminal, at any size."""
    shown = screen(state_of(text), columns, rows, 60)
    assert len(shown) <= rows
    assert all(cells(plain(line)) <= max(columns, 60) for line in shown)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [400, pytest.param(100_000, marks=pytest.mark.slow)])
def test_no_control_or_bidi_character_reaches_the_screen(count: int) -> None:
    """100,000 generated prompts: the whole screen is harmless, at 80 columns."""
    for text in _hostile_prompts(count):
        for line in screen(state_of(text), 80, 24, 60):
            shown = plain(line)
            assert not any(ch in BIDI or unicodedata.category(ch) in FORBIDDEN for ch in shown)


@given(hostile, st.integers(3, 200))
def test_a_wrapped_text_maps_back_to_the_exact_argument(text: str, width: int) -> None:
    """The gutter tells a wrapped row from a new line, so the screen can be read back."""
    rows = [plain(row) for row in boxed(styled(text), width)]
    joined = "".join(
        row[2:] if row.startswith(CONTINUED) else f"\n{row.removeprefix(GUTTER)}" for row in rows
    )
    assert unescape(joined.removeprefix("\n")) == text


@given(hostile, st.integers(3, 60))
def test_wrapping_at_words_loses_nothing(text: str, width: int) -> None:
    """Prose breaks behind a space; put together again it is the same text."""
    for line in styled(text):
        rows = wrap_words(line, width)
        assert "".join(map(plain, rows)) == plain(line)
        assert all(cells(plain(row)) <= max(width, 2) for row in rows)


def test_a_megabyte_on_one_line_is_laid_out_in_full() -> None:
    """T17: a 1 MB line is paged through, not cut."""
    state = state_of("x" * 1_000_000)
    assert sum(plain(row).count("x") for row in state.content(79)) >= 3_000_000


@given(st.lists(st.text(max_size=20), min_size=1, max_size=12))
def test_a_refusal_is_always_there_and_selected_first(options: list[str]) -> None:
    """Refusal preselected, whatever was offered."""
    choice = Choice.among(options)
    assert not allows(choice.rows[choice.selected])
    assert choice.enter().decision == choice.refuse().decision


@given(st.lists(st.text(max_size=20), max_size=12))
def test_letters_are_unique_and_never_those_of_other_commands(options: list[str]) -> None:
    """One letter, one meaning."""
    letters = [letter for letter in letters_of(options) if letter]
    assert len(set(letters)) == len(letters)
    assert not {"c", "v"} & set(letters)


def test_an_ascii_terminal_gets_ascii() -> None:
    """Our own signs have plain twins."""
    lines = screen(state_of("plain"), 80, 24, 5)
    assert all(plain(to_ascii(line)).isascii() for line in lines)


def test_many_options_scroll_with_the_selection() -> None:
    """Options beyond the rows for them are reached, and long labels are shown in full."""
    state = state_of("?", (*(f"Allow {number}" for number in range(40)), "Deny " + "y" * 200))
    state.act(state.choice.move(-1))
    shown = "\n".join(plain(line) for line in screen(state, 80, 24, 60))
    assert "Allow 39" in shown
    everything = "".join(plain(line) for line in state.content(79))
    assert everything.count("y") >= 200


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00"),
        (0.2, "0:01"),
        (59.01, "1:00"),
        (3600, "1:00:00"),
        (float("inf"), "no time limit"),
    ],
)
def test_the_countdown_never_says_over_before_it_is(seconds: float, text: str) -> None:
    """Rounded up."""
    assert countdown(seconds) == text

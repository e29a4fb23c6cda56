"""The screen of a question: complete, inside the terminal, and drawn without any effect."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.models import Decision
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.editor import TextField
from amplifier_hooks.cli.approval.preview import make_preview
from amplifier_hooks.cli.approval.question import (
    READ_FIRST,
    QuestionContent,
    QuestionState,
    Scroll,
    Typed,
    View,
)
from amplifier_hooks.cli.approval.question_application import (
    Screen,
    draw_screen,
    format_countdown,
    get_content_width,
)
from amplifier_hooks.cli.text.fragments import join_text
from tests.hooks.cli.hostile_text import hostile, is_harmless, make_prompts


def make_state(
    text: str,
    options: tuple[str, ...] = ("Allow", "Deny"),
    *,
    ascii_only: bool = False,
    default: Decision = "deny",
) -> QuestionState:
    question = ApprovalQuestion(
        text, options, 60, default, hook=text, reason=text, tool_name="Tool", tool_input={"x": text}
    )
    preview = make_preview("Tool", question.tool_input, Path())
    choice = Choice.among(options)
    content = QuestionContent(question, preview, choice.rows, ascii_only)
    return QuestionState(content, choice, settled=True)


def text_of(screen: Screen) -> str:
    return "\n".join(join_text(line) for line in screen.lines)


def cells(text: str) -> int:
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(text)


@given(hostile, st.integers(20, 220), st.integers(8, 60))
def test_the_screen_stays_inside_the_terminal(text: str, columns: int, rows: int) -> None:
    """No row is wider and no screen higher than the terminal, at any size."""
    lines = draw_screen(make_state(text), columns, rows, 60).lines
    assert len(lines) <= rows
    assert all(cells(join_text(line)) <= max(columns, 60) for line in lines)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [400, pytest.param(100_000, marks=pytest.mark.slow)])
def test_no_control_or_bidi_character_reaches_the_screen(count: int) -> None:
    """However many prompts are made up: the whole screen is harmless, at 80 columns."""
    for text in make_prompts(count):
        for line in draw_screen(make_state(text), 80, 24, 60).lines:
            assert is_harmless(join_text(line)), ascii(text)


@given(hostile, st.integers(20, 220), st.integers(8, 60), st.booleans())
def test_drawing_changes_nothing(text: str, columns: int, rows: int, exact: bool) -> None:
    """Looking at a question is no step towards allowing it."""
    state = make_state(text)
    state.act(Scroll(1))
    state.exact = exact
    before = copy.deepcopy(state)
    first = draw_screen(state, columns, rows, 60)
    assert state == before
    assert draw_screen(state, columns, rows, 60) == first


def test_the_screen_says_which_part_of_the_content_is_on_it() -> None:
    """The view holds exactly the rows that were drawn."""
    state = make_state("\n".join(f"<{number}>" for number in range(40)))
    screen = draw_screen(state, 80, 24, 60)
    content = state.content.lay_out(79)
    assert screen.view.total == len(content)
    shown = content[screen.view.top : screen.view.bottom]
    assert screen.lines[1 : 1 + screen.view.rows] == shown
    assert not screen.view.shows_end
    assert f"{screen.view.bottom}/{screen.view.total} lines" in text_of(screen)


def test_a_position_behind_the_end_is_drawn_as_the_end() -> None:
    """After a resize there may be less to scroll through."""
    state = make_state("\n".join("x" * 40))
    state.top = 10_000
    screen = draw_screen(state, 80, 24, 60)
    assert screen.view.shows_end
    assert screen.view.bottom == screen.view.total


def test_a_hint_does_not_hide_the_end() -> None:
    """Who goes to the end sees it, also where the screen has just lost a row."""
    state = make_state("\n".join("x" * 40))
    state.act(draw_screen(state, 80, 24, 60).view)
    state.act(Scroll(math.inf))
    state.act(state.choice.press("a"))
    assert state.hint
    assert draw_screen(state, 80, 24, 60).view.shows_end


def test_what_fits_is_on_the_screen_at_once() -> None:
    """A short question has no pages, and no position."""
    screen = draw_screen(make_state("go?"), 80, 40, 60)
    assert screen.view == View(0, screen.view.rows, screen.view.total)
    assert screen.view.shows_end
    assert " lines" not in text_of(screen)


def test_an_ascii_terminal_gets_ascii() -> None:
    """Our own signs have plain twins, and foreign letters are escaped."""
    state = make_state("größe\t→", ascii_only=True)
    state.act(Typed("ü"))
    for columns in (30, 80):
        assert text_of(draw_screen(state, columns, 24, 5)).isascii()


def test_many_options_scroll_with_the_selection() -> None:
    """Options beyond the rows for them are reached."""
    state = make_state("?", (*(f"Allow {number}" for number in range(40)), "Deny " + "y" * 200))
    state.act(state.choice.move(-1))
    shown = text_of(draw_screen(state, 80, 24, 60))
    assert "Allow 39" in shown
    assert "Allow 30" not in shown


def test_each_option_shows_its_keys() -> None:
    """A number, a letter, and Enter where a single key does not decide."""
    state = make_state("?", ("Allow", "Allow (always)", "Deny"))
    shown = text_of(draw_screen(state, 100, 24, 60))
    assert "  1. Allow            a\n" in shown
    assert "  2. Allow (always)   l, then Enter · whenever this is asked, until" in shown
    assert "› 3. Deny             d\n" in shown


def test_what_always_covers_stands_below_where_there_is_no_room() -> None:
    """In words, at any width."""
    state = make_state("?", ("Allow", "Allow always", "Deny"))
    narrow = text_of(draw_screen(state, 40, 24, 60))
    assert (
        "  2. Allow always   l, then Enter\n     whenever this is asked, until the\n"
        "     session ends\n› 3. Deny" in narrow.replace(" \n", "\n")
    )


def test_a_command_is_edited_with_its_cursor_in_sight() -> None:
    """All of it on the screen, and the keys that end it."""
    state = make_state("?")
    state.field = TextField("rm -r build", 3)
    screen = draw_screen(state, 80, 24, 60)
    assert "Run  rm -r build\nEnter runs this instead · Esc goes back" in text_of(screen)
    assert ("cursor", "-") in screen.lines[-2]
    state.hint = READ_FIRST
    assert READ_FIRST in text_of(draw_screen(state, 80, 24, 60))


@pytest.mark.parametrize(("default", "word"), [("deny", "Denies"), ("allow", "Allows")])
def test_the_head_says_what_happens_when_time_is_up(default: Decision, word: str) -> None:
    """Denies or allows, and in how long."""
    shown = text_of(draw_screen(make_state("?", default=default), 80, 24, 61))
    assert f"{word} in 1:01" in shown


def test_the_last_seconds_stand_out() -> None:
    """The style of the countdown changes."""
    (head, *_) = draw_screen(make_state("?"), 80, 24, 10).lines
    assert ("urgent", "Denies in 0:10") in head
    (head, *_) = draw_screen(make_state("?"), 80, 24, 11).lines
    assert ("time", "Denies in 0:11") in head


def test_where_the_head_is_narrow_the_time_stays() -> None:
    """Of all that could stand there the time left matters most."""
    state = make_state("\n" * 50)
    state.waiting = 3
    assert "3 more waiting · Denies in 1:00" in text_of(draw_screen(state, 80, 24, 60))
    narrow = text_of(draw_screen(state, 50, 24, 60))
    assert "waiting" not in narrow
    assert "Denies in 1:00" in narrow


def test_the_help_names_the_keys_that_work() -> None:
    """Paging until the end was seen, a comment where one is taken, the other view of the input."""
    state = make_state("go?")
    assert "Space next page" in text_of(draw_screen(state, 200, 24, 60))
    state.act(View(0, 9, 9))
    shown = text_of(draw_screen(state, 200, 24, 60))
    assert "Space next page" not in shown
    assert "c comment · v exact input · Esc Esc refuse" in shown
    state.act("switch view")
    assert "v readable view" in text_of(draw_screen(state, 200, 24, 60))


def test_keys_are_named_from_the_moment_they_count() -> None:
    """Until then their place is empty, so that nothing moves when they appear."""
    state = make_state("go?")
    state.settled = False
    before = draw_screen(state, 40, 24, 60)
    state.act("settle")
    after = draw_screen(state, 40, 24, 60)
    assert "Esc refuse" not in text_of(before)
    assert "Esc refuse" in text_of(after)
    assert (len(before.lines), before.view) == (len(after.lines), after.view)
    named = [row for row, line in enumerate(after.lines) if line != before.lines[row]]
    assert not "".join(join_text(before.lines[row]) for row in named)


def test_a_comment_is_shown_while_and_after_it_is_typed() -> None:
    """With the keys that end it."""
    state = make_state("go?")
    state.act("start comment")
    state.act(Typed("use a branch"))
    shown = text_of(draw_screen(state, 80, 24, 60))
    assert "Comment   use a branch" in shown
    assert "Enter keeps it · Esc drops it" in shown
    state.act("keep comment")
    shown = text_of(draw_screen(state, 80, 24, 60))
    assert "Comment   use a branch" in shown
    assert "Enter keeps it" not in shown


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
    assert format_countdown(seconds) == text


def test_a_row_never_fills_the_terminal() -> None:
    """The last column stays empty, so that no terminal wraps by itself."""
    assert get_content_width(80) == 79
    assert get_content_width(3) == 20

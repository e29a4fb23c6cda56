"""The application of a question: what each key does, and what counts as seen."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import math
import os
import select
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.input.typeahead import clear_typeahead

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.models import Decision
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.editor import TextField
from amplifier_hooks.cli.approval.preview import make_preview
from amplifier_hooks.cli.approval.question import (
    READ_FIRST,
    REFUSE_AGAIN,
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
    make_application,
)
from amplifier_hooks.cli.terminal import Terminal
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


OPTIONS = ("Allow once", "Allow always", "Deny")
SHORT = "Go?"
NEVER = 1000.0
SETTLING = 0.3
LONG = "\n".join(f"line {number}" for number in range(100))


class Asking:
    """A question in a pseudo-terminal of this process."""

    def __init__(self, prompt: str, settling: float, escape_seconds: float) -> None:
        question = ApprovalQuestion(prompt, OPTIONS, 60, "deny", hook="guard")
        content = QuestionContent(question, None, OPTIONS)
        self.state = QuestionState(content, Choice.among(OPTIONS))
        self.remaining = 60.0
        self.settling, self.escape_seconds = settling, escape_seconds
        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (24, 80))
        self.output = b""
        self.running: asyncio.Task[None]
        self.drawn_at = 0.0

    async def run(self) -> None:
        """Until it is decided."""
        with (
            open(self.slave, closefd=False) as reading,
            open(self.slave, "w", closefd=False) as writing,
        ):
            terminal = Terminal(reading, writing)
            application = make_application(
                terminal,
                self.state,
                lambda: self.remaining,
                settling=self.settling,
                escape_seconds=self.escape_seconds,
            )
            try:
                await application.run_async(handle_sigint=False, set_exception_handler=False)
            finally:
                # It is kept by the number of the file, which the next question may have as well.
                clear_typeahead(application.input)

    def type(self, keys: str) -> None:
        """All at once, as a paste or an impatient person does."""
        os.write(self.master, keys.encode())

    def has_unread_keys(self) -> bool:
        """Whether something that was typed still waits in the terminal."""
        return bool(select.select([self.slave], [], [], 0)[0])

    def read(self) -> None:
        """Keep the terminal from filling up."""
        self.output += os.read(self.master, 65536)

    def read_the_rest(self) -> None:
        """What was written last may not have been read yet when the question ends."""
        os.set_blocking(self.master, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.read()

    async def wait_until(self, is_so: Callable[[QuestionState], bool]) -> None:
        """For the next state that fits."""
        async with asyncio.timeout(50):
            while not is_so(self.state):
                await asyncio.sleep(0.01)


@asynccontextmanager
async def asking(
    prompt: str = SHORT,
    *,
    settled: bool = True,
    escape_seconds: float = NEVER,
    settling: float = 0.0,
    typed: str = "",
) -> AsyncIterator[Asking]:
    """A running question; settled: keys count."""
    question = Asking(prompt, settling if settled else NEVER, escape_seconds)
    question.type(typed)
    loop = asyncio.get_running_loop()
    loop.add_reader(question.master, question.read)
    running = question.running = asyncio.create_task(question.run())
    try:
        await question.wait_until(lambda _: b"Approval needed" in question.output)
        question.drawn_at = loop.time()
        await question.wait_until(lambda state: state.settled == settled)
        yield question
        if question.state.choice.decision is None and not running.done():
            question.type("\x03")
        async with asyncio.timeout(50):
            await running
    finally:
        running.cancel()
        await asyncio.wait([running])
        loop.remove_reader(question.master)
        question.read_the_rest()
        os.close(question.master)
        os.close(question.slave)


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        ("a", "Allow once"),
        ("1", "Allow once"),
        ("\x1b[B\r", "Allow once"),
        ("\t\r", "Allow once"),
        ("\x1b[A\r", "Allow always"),
        ("\x1b[Z\r", "Allow always"),
        ("l\r", "Allow always"),
        ("d", "Deny"),
        ("\r", "Deny"),
    ],
)
async def test_keys_decide(keys: str, decision: str) -> None:
    """Letters, digits, arrows and Tab with Enter."""
    async with asking() as question:
        question.type(keys)
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == decision
    assert not question.state.interrupted


async def test_an_arrow_that_arrives_in_pieces_is_no_escape() -> None:
    """Over a slow line; only an Escape that nothing follows refuses."""
    async with asking() as question:
        for piece in ("\x1b", "[", "B"):
            question.type(piece)
            await question.wait_until(lambda _: not question.has_unread_keys())
            assert question.state.choice.decision is None
        await question.wait_until(lambda state: state.choice.selected == 0)
        question.type("\r")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Allow once"


async def test_two_escapes_that_nothing_follows_refuse() -> None:
    """After a moment, because it could be the first byte of another key."""
    async with asking(escape_seconds=0.01) as question:
        question.type("\x1b")
        await question.wait_until(lambda state: state.hint == REFUSE_AGAIN)
        assert question.state.choice.decision is None
        question.type("\x1b")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Deny"
    assert not question.state.interrupted


async def test_a_key_before_the_question_has_settled_is_none() -> None:
    """Who is typing when the question appears has not answered it; Ctrl-C counts at once."""
    async with asking(settled=False) as question:
        question.type("a\x03")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Deny"
    assert question.state.interrupted


async def test_no_key_counts_while_somebody_who_was_typing_goes_on() -> None:
    """A sentence that is longer than the first moment does not answer with one of its letters."""
    async with asking(typed="b", settling=SETTLING) as question:
        assert asyncio.get_running_loop().time() - question.drawn_at > 2 * SETTLING
        question.type("a")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Allow once"


async def test_only_what_was_drawn_counts_as_seen() -> None:
    """The end and a yes in one stroke: the yes came before the end was on the screen."""
    async with asking(LONG) as question:
        question.type("\x1b[Fa")
        await question.wait_until(lambda state: state.seen_to_end)
        assert question.state.choice.decision is None
        assert question.state.hint == READ_FIRST
        question.type("a")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Allow once"


@pytest.mark.parametrize(
    ("keys", "is_so"),
    [
        (" ", lambda state: state.top > 0),
        ("\x1b[6~", lambda state: state.top > 0),
        ("\x1b[F", lambda state: state.view.shows_end),
        ("\x1b[F\x1b[H", lambda state: state.top == 0),
        ("  \x1b[5~", lambda state: 0 < state.top < 18),
        ("v", lambda state: state.exact),
        ("vv", lambda state: not state.exact),
        ("c", lambda state: state.commenting),
    ],
)
async def test_other_keys_page_switch_the_view_and_comment(
    keys: str, is_so: Callable[[QuestionState], bool]
) -> None:
    """None of them decides."""
    async with asking(LONG) as question:
        question.type(keys)
        await question.wait_until(is_so)
        assert question.state.choice.decision is None


async def test_while_commenting_keys_are_text() -> None:
    """Letters and digits of options, a paste, Backspace; Enter keeps what was typed."""
    async with asking() as question:
        question.type("c")
        await question.wait_until(lambda state: state.commenting)
        question.type("a1lx\x7f\x1b[200~, d\n\x1b[201~")
        await question.wait_until(lambda state: state.comment == "a1l, d\n")
        question.type("\r")
        await question.wait_until(lambda state: not state.commenting)
        assert (question.state.comment, question.state.choice.decision) == ("a1l, d", None)


async def test_escape_drops_a_comment_and_does_not_refuse() -> None:
    """One step back, not two."""
    async with asking(escape_seconds=0.01) as question:
        question.type("cx")
        await question.wait_until(lambda state: state.comment == "x")
        question.type("\x1b")
        await question.wait_until(lambda state: not state.commenting)
        assert (question.state.comment, question.state.choice.decision) == ("", None)


async def test_when_time_is_up_it_ends_undecided() -> None:
    """Nobody's decision is made up."""
    async with asking() as question:
        question.remaining = 0.0
        async with asyncio.timeout(50):
            await question.running
        assert question.state.choice.decision is None
        assert not question.state.interrupted


async def test_nothing_of_it_stays_on_the_terminal() -> None:
    """It is erased when it ends."""
    import pyte

    async with asking() as question:
        question.type("d")
        await question.wait_until(lambda state: state.choice.decision is not None)
    screen = pyte.Screen(80, 24)
    pyte.ByteStream(screen).feed(question.output)
    assert not "".join(screen.display).strip()

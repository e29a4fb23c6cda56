"""The state of a question: what was on the screen, and what the person did."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.editor import EditableInput
from amplifier_hooks.cli.approval.question import (
    COMMENT_LIMIT,
    READ_FIRST,
    REFUSE_AGAIN,
    Action,
    Edit,
    QuestionContent,
    QuestionState,
    Scroll,
    Typed,
    View,
)

OPTIONS = ("Allow once", "Allow always", "Deny")
FIRST_PAGE, LAST_PAGE = View(0, 10, 100), View(90, 10, 100)


def make_state(*, commentable: bool = True) -> QuestionState:
    question = ApprovalQuestion("Go?", OPTIONS, 60, "deny", hook="guard")
    content = QuestionContent(question, None, OPTIONS)
    return QuestionState(content, Choice.among(OPTIONS), commentable)


def act(state: QuestionState, *actions: Action) -> QuestionState:
    for action in actions:
        state.act(action)
    return state


def test_nothing_is_allowed_before_its_end_was_on_the_screen() -> None:
    """The key is answered with a hint; once the end was there, it counts."""
    state = act(make_state(), FIRST_PAGE)
    act(state, state.choice.press("a"))
    assert (state.choice.decision, state.hint) == (None, READ_FIRST)
    act(state, LAST_PAGE, state.choice.press("a"))
    assert (state.choice.decision, state.hint) == ("Allow once", "")


def test_going_to_the_end_is_not_having_seen_it() -> None:
    """Keys may come faster than the screen is drawn."""
    state = act(make_state(), FIRST_PAGE, Scroll(math.inf))
    assert act(state, state.choice.press("a")).choice.decision is None


def test_what_was_seen_stays_seen() -> None:
    """From the end back to the start, and then allowed."""
    state = act(make_state(), FIRST_PAGE, LAST_PAGE, FIRST_PAGE)
    assert act(state, state.choice.press("a")).choice.decision == "Allow once"


@pytest.mark.parametrize("key", ["d", "3"])
def test_refusing_needs_no_reading(key: str) -> None:
    """A no is a no on the first page."""
    state = act(make_state(), FIRST_PAGE)
    assert act(state, state.choice.press(key)).choice.decision == "Deny"


actions = st.one_of(
    st.builds(Scroll, st.sampled_from([1, -1, 0.5, math.inf, -math.inf])),
    st.builds(Typed, st.text(max_size=5)),
    st.sampled_from(["switch view", "start comment", "erase", "keep comment", "drop comment"]),
    st.builds(View, st.integers(0, 80), st.integers(1, 10), st.just(100)),
)


@given(st.lists(actions, max_size=20))
def test_no_way_leads_around_the_end(steps: list[Action]) -> None:
    """Without a view of the end no series of keys makes a yes possible."""
    state = act(make_state(), FIRST_PAGE, *steps)
    act(state, Choice.among(OPTIONS).press("a"))
    assert (state.choice.decision is not None) == any(
        isinstance(step, View) and step.shows_end for step in steps
    )


def test_a_move_of_the_selection_is_always_taken() -> None:
    """Choosing is not deciding."""
    state = act(make_state(), FIRST_PAGE)
    assert act(state, state.choice.move(1)).choice.selected == 0


@pytest.mark.parametrize(
    ("pages", "top"),
    [
        ([1], 9),
        ([1, 1], 18),
        ([1, -1], 0),
        ([-1], 0),
        ([math.inf, -math.inf], 0),
    ],
)
def test_scrolling_moves_by_pages_that_share_a_row(pages: list[float], top: int) -> None:
    """Also when several keys come before the next drawing."""
    state = act(make_state(), FIRST_PAGE, *map(Scroll, pages))
    assert state.top == top


def test_the_next_step_goes_on_from_what_was_drawn() -> None:
    """A smaller terminal shows another part; from there it scrolls."""
    state = act(make_state(), FIRST_PAGE, Scroll(math.inf), View(95, 5, 100), Scroll(-1))
    assert state.top == 91


def test_another_view_of_the_input_starts_at_its_top() -> None:
    """Readable or exact, from the first line."""
    state = act(make_state(), FIRST_PAGE, Scroll(1), "switch view")
    assert (state.exact, state.top) == (True, 0)
    assert not act(state, "switch view").exact


def test_a_comment_is_typed_erased_and_kept() -> None:
    """Words for the agent, without the space around them."""
    state = act(make_state(), "start comment", Typed(" use a branchh"), "erase", "keep comment")
    assert (state.commenting, state.comment) == (False, "use a branch")


def test_a_dropped_comment_is_gone() -> None:
    """Back to choosing, with nothing said."""
    state = act(make_state(), "start comment", Typed("no"), "drop comment")
    assert (state.commenting, state.comment) == (False, "")


def test_a_comment_holds_text_alone_and_ends_somewhere() -> None:
    """No control characters, newlines of all kinds as one, and not without limit."""
    state = act(make_state(), "start comment", Typed("a\x1b[2K\r\nb\rc\x07"))
    assert state.comment == "a[2K\nb\nc"
    assert len(act(state, Typed("x" * 9_999)).comment) == COMMENT_LIMIT


def test_the_short_form_takes_no_comment() -> None:
    """Where nobody would get it, it cannot be typed."""
    assert not act(make_state(commentable=False), "start comment").commenting


def make_editable(command: str = "ls") -> QuestionState:
    question = ApprovalQuestion(
        "Go?",
        OPTIONS,
        60,
        "deny",
        hook="guard",
        event="tool:pre",
        tool_name="Bash",
        tool_input={"command": command, "timeout": 5},
    )
    content = QuestionContent(question, None, OPTIONS)
    editable = EditableInput.of(question)
    return QuestionState(content, Choice.among(OPTIONS), editable=editable)


def test_what_is_in_the_field_is_allowed_once() -> None:
    """The other fields of the input stay as they are."""
    state = act(make_editable(), LAST_PAGE, "start edit", Typed(" -l"), "run edited")
    assert state.choice.decision == "Allow once"
    assert state.edited_input == {"command": "ls -l", "timeout": 5}


@pytest.mark.parametrize(
    "steps",
    [
        ["start edit", "run edited"],
        ["start edit", Edit("all before"), "run edited"],
        ["start edit", Typed("x"), "drop edit", "run edited"],
        ["run edited"],
        ["start edit", Typed("x"), Edit("before"), "run edited"],
    ],
)
def test_an_edit_that_changes_nothing_decides_nothing(steps: list[Action]) -> None:
    """Unchanged, emptied, or dropped."""
    state = act(make_editable(), LAST_PAGE, *steps)
    assert (state.choice.decision, state.edited_input, state.field) == (None, None, None)


def test_an_edited_command_needs_reading_like_any_other() -> None:
    """What stands beside the command may not have been on the screen."""
    state = act(make_editable(), FIRST_PAGE, "start edit", Typed(" -l"), "run edited")
    assert (state.choice.decision, state.edited_input, state.hint) == (None, None, READ_FIRST)
    assert state.field is not None


def test_what_does_not_fit_into_a_line_opens_an_editor() -> None:
    """The question leaves the screen, undecided."""
    state = act(make_editable("ls\nls"), "start edit")
    assert (state.field, state.wants_editor, state.is_over) == (None, True, True)
    assert state.choice.decision is None


def test_without_anything_to_edit_the_key_does_nothing() -> None:
    """A question about no tool call."""
    state = act(make_state(), "start edit", Edit("left"), "run edited")
    assert (state.field, state.wants_editor, state.choice.decision) == (None, False, None)


def test_the_second_escape_refuses() -> None:
    """The first selects the refusal; any other key in between takes it back."""
    state = act(make_state(), FIRST_PAGE)
    act(state, state.choice.move(1), "escape")
    assert (state.choice.decision, state.choice.selected, state.hint) == (None, 2, REFUSE_AGAIN)
    act(state, state.choice.move(1), "escape")
    assert state.choice.decision is None
    assert act(state, "escape").choice.decision == "Deny"


def test_an_interrupt_refuses_and_says_so() -> None:
    """Ctrl-C is a no, and more than a no."""
    state = act(make_state(), "interrupt")
    assert (state.choice.decision, state.interrupted) == ("Deny", True)


@given(st.integers(0, 99), st.integers(1, 99), st.integers(1, 99))
def test_a_view_shows_the_end_when_nothing_is_left_below(top: int, rows: int, total: int) -> None:
    """The last row is the one before `bottom`."""
    assert View(top, rows, total).shows_end == (total - 1 < View(top, rows, total).bottom)

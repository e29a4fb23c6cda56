"""A line that is being edited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.cli.approval.editor import Move, Removal, TextField


def test_what_is_typed_goes_in_before_the_cursor() -> None:
    """And the cursor goes on behind it."""
    field = TextField.holding("rm build").move("home").move("right").move("right").insert(" -r")
    assert field.text == "rm -r build"
    assert field.parts == ("rm -r", " ", "build")


def test_a_pasted_line_break_is_a_space_and_nothing_unseen_gets_in() -> None:
    """A second line would be a second command."""
    assert TextField.holding("").insert("a\nb\x1b\u202ec").text == "a bc"


@pytest.mark.parametrize(
    ("which", "text", "cursor"),
    [("before", "abd", 2), ("after", "abc", 3), ("all before", "d", 0)],
)
def test_characters_are_taken_out_beside_the_cursor(which: Removal, text: str, cursor: int) -> None:
    """Backspace, Delete, and Ctrl-U."""
    field = TextField("abcd", 3).remove(which)
    assert (field.text, field.cursor) == (text, cursor)


moves: st.SearchStrategy[Move] = st.sampled_from(["left", "right", "home", "end"])
removals: st.SearchStrategy[Removal] = st.sampled_from(["before", "after", "all before"])


@given(st.text(max_size=5), st.lists(st.one_of(moves, removals), max_size=20))
def test_the_cursor_stays_in_the_text(text: str, steps: list[Move | Removal]) -> None:
    """Whatever keys are pressed."""
    field = TextField.holding(text)
    for step in steps:
        match step:
            case "left" | "right" | "home" | "end":
                field = field.move(step)
            case _:
                field = field.remove(step)
        assert 0 <= field.cursor <= len(field.text)
        assert "".join(field.parts) == field.text

"""The choice among options: the refusal first, a key for each row, Enter for what is remembered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_core.approval import read_option
from amplifier_hooks.cli.approval.choice import REFUSAL, Choice, add_refusal, assign_letters

USUAL = ("Allow once", "Allow always", "Deny")
options = st.lists(st.text(max_size=20), min_size=1, max_size=12)


@given(options)
def test_a_refusal_is_always_there_and_selected_first(offered: list[str]) -> None:
    """Whatever was offered, Enter alone refuses."""
    choice = Choice.among(offered)
    assert not read_option(choice.rows[choice.selected]).allows
    assert choice.enter().decision == choice.refuse().decision


@given(st.lists(st.text(max_size=20), max_size=12))
@example(["Allow", "Always", "Cancel", "123"])
def test_letters_are_unique_and_never_those_of_other_commands(offered: list[str]) -> None:
    """The first free letter of each label; a label without one has none."""
    letters = assign_letters(offered)
    given = [letter for letter in letters if letter]
    assert len(set(given)) == len(given)
    assert not {"c", "v"} & set(given)
    if offered == ["Allow", "Always", "Cancel", "123"]:
        assert letters == ("a", "l", "n", "")


def test_options_without_a_refusal_get_one() -> None:
    """One for this time goes before one for the session: an accident is not remembered."""
    assert add_refusal(["Allow", "Yes"]) == ("Allow", "Yes", REFUSAL)
    assert add_refusal([]) == (REFUSAL,)
    assert add_refusal(USUAL) == USUAL
    assert Choice.among(["Deny always", "Allow", "Deny"]).refusal == "Deny"
    assert Choice.among(["Deny always", "Allow"]).refusal == "Deny always"


@pytest.mark.parametrize(
    "option", ["Allow always", "Allow (always)", "allow ALWAYS!", "Deny, always."]
)
def test_no_single_key_decides_what_is_remembered(option: str) -> None:
    """A key selects what the kernel would remember, however it is spelled; Enter decides."""
    choice = Choice.among([option, "Deny once"])
    assert read_option(option).remembered
    for key in ("1", choice.letters[0]):
        pressed = choice.press(key)
        assert (pressed.selected, pressed.decision) == (0, None)
        assert pressed.enter().decision == option


@pytest.mark.parametrize(
    ("keys", "decision"),
    [("1a", "Allow once"), ("3d", "Deny"), (["0", "4", "9", "x", "", "²"], None)],
)
def test_a_digit_or_a_letter_decides_at_once(keys: Sequence[str], decision: str | None) -> None:
    """The number of a row, or its letter; a key without a row changes nothing."""
    choice = Choice.among(USUAL)
    for key in keys:
        pressed = choice.press(key)
        assert pressed.decision == decision
        assert (pressed == choice) == (decision is None)


@given(options, st.integers(-30, 30))
@example([*USUAL], 1)
@example([*USUAL], 0)
def test_the_selection_moves_round_the_ends(offered: list[str], steps: int) -> None:
    """Down from the last row is the first one, and up again; a row is what is decided."""
    start = Choice.among(offered)
    moved = start.move(steps)
    assert moved.selected == (start.selected + steps) % len(start.rows)
    assert moved.enter().decision == moved.rows[moved.selected]

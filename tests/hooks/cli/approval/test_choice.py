"""The choice among options: the refusal first, a key for each row, Enter for what is remembered."""

from __future__ import annotations

import pytest
from hypothesis import given
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
def test_letters_are_unique_and_never_those_of_other_commands(offered: list[str]) -> None:
    """One letter, one meaning."""
    letters = [letter for letter in assign_letters(offered) if letter]
    assert len(set(letters)) == len(letters)
    assert not {"c", "v"} & set(letters)


def test_a_letter_comes_from_the_label_where_one_is_free() -> None:
    """The first free letter of each label; a label without one has none."""
    assert assign_letters(["Allow", "Always", "Cancel", "123"]) == ("a", "l", "n", "")


def test_options_without_a_refusal_get_one() -> None:
    """A question that can only be allowed can still be refused."""
    assert add_refusal(["Allow", "Yes"]) == ("Allow", "Yes", REFUSAL)
    assert add_refusal([]) == (REFUSAL,)
    assert add_refusal(USUAL) == USUAL


def test_a_refusal_for_this_time_goes_before_one_for_the_session() -> None:
    """Refusing by accident is not remembered."""
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
    ("key", "decision"), [("1", "Allow once"), ("a", "Allow once"), ("3", "Deny"), ("d", "Deny")]
)
def test_a_digit_or_a_letter_decides_at_once(key: str, decision: str) -> None:
    """The number of a row, or its letter."""
    assert Choice.among(USUAL).press(key).decision == decision


@pytest.mark.parametrize("key", ["0", "4", "9", "x", "", "²"])
def test_a_key_without_a_row_changes_nothing(key: str) -> None:
    """No row, no meaning."""
    choice = Choice.among(USUAL)
    assert choice.press(key) == choice


def test_the_selection_moves_round_the_ends() -> None:
    """Down from the last row is the first one, and up again."""
    choice = Choice.among(USUAL)
    assert choice.move(1).selected == 0
    assert choice.move(1).move(-1).selected == 2
    assert choice.move(1).enter().decision == "Allow once"


@given(options, st.integers(-30, 30))
def test_the_decision_is_one_of_the_rows(offered: list[str], steps: int) -> None:
    """Wherever the selection went."""
    choice = Choice.among(offered).move(steps)
    assert choice.enter().decision in choice.rows

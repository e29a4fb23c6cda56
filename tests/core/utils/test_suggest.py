"""From a wrong name to the right one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.utils.text import differs_by_one, find_closest, find_slip, suggest

KNOWN = ["approval_timeout", "priority", "timeout", "Write"]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("prioritty", "priority"),
        ("PRIORITY", "priority"),
        ("write", "Write"),
        ("approv", "approval_timeout"),
        ("time", "timeout"),
        ("xyz", None),
        ("", None),
        ("ti", None),
    ],
)
def test_the_closest_name(wrong: str, meant: str | None) -> None:
    assert find_closest(wrong, KNOWN) == meant


def test_a_higher_cutoff_asks_for_more_likeness() -> None:
    assert find_closest("tool:prey", ["tool:pre"], cutoff=0.8) == "tool:pre"
    assert find_closest("toll:past", ["tool:post"], cutoff=0.6) == "tool:post"
    assert find_closest("toll:past", ["tool:post"], cutoff=0.95) is None


def test_the_sentence_names_one_or_lists_all() -> None:
    assert suggest("timeuot", KNOWN) == "did you mean 'timeout'?"
    assert suggest("xyz", KNOWN) == "have Write, approval_timeout, priority, timeout"
    assert suggest("xyz", []) == "have none"


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=6))
def test_only_known_names_are_suggested(wrong: str, known: list[str]) -> None:
    found = find_closest(wrong, iter(known))
    assert found is None or found in known


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("actoin", "action"),
        ("ACTION", "action"),
        ("user_messages", "user_message"),
        ("action_id", None),
        ("user_message_format", None),
        ("metadata", None),
        ("act", None),
        ("", None),
    ],
)
def test_a_slip_is_nearly_the_name_itself(name: str, meant: str | None) -> None:
    """A name with another word in it is another name."""
    assert find_slip(name, ["action", "data", "user_message", "ephemeral"]) == meant


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("data", True), ("dta", True), ("daata", True), ("daat", True), ("date", True),
        ("dtaa", True), ("", False), ("da", False), ("datatx", False), ("tada", False),
    ],
)  # fmt: skip
def test_one_letter_is_the_smallest_difference(name: str, near: bool) -> None:
    """One too many, missing, wrong, or swapped with the next."""
    assert differs_by_one(name, "data") is near
    assert differs_by_one("data", name) is near

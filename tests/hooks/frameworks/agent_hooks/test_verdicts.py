"""What our hooks said, as a verdict."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import path as paths
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.answers import Outcome
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.dispatch import Answer
from amplifier_core.models import HookResult
from amplifier_core.registration import HookHandler
from amplifier_hooks.frameworks.agent_hooks.translation import (
    find_change,
    write_denial,
    write_permission,
    write_question,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def answer(name: str = "mine", error: BaseException | None = None, **fields: Any) -> Answer:
    return Answer(HookHandler(lambda event, data: None, name=name), HookResult(**fields), error)


@given(values, values)
def test_a_change_applied_to_what_was_there_is_what_was_left(before: Any, left: Any) -> None:
    """By the contract's own rules, whatever the two are."""
    path, value = find_change(before, left)
    assert paths.apply(before, path, value) == left


@pytest.mark.parametrize(
    ("before", "left", "path"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "$target.b"),
        ({"a": [{"c": 1}, 2]}, {"a": [{"c": 4}, 2]}, "$target.a[0].c"),
        ({"a": 1, "b": 2}, {"a": 3, "b": 4}, "$target"),
        ({"a": 1, "b": 2}, {"a": True, "b": 2}, "$target.a"),
        ({"a": [0, 1]}, {"a": [False, 2]}, "$target.a"),
        ({"a": 1}, {"a": 1, "b": 2}, "$target"),
        ([1, 2], [1], "$target"),
        ({"a.b": 1}, {"a.b": 2}, "$target"),
        ({"ä": 1}, {"ä": 2}, "$target"),
    ],
)
def test_no_more_is_rewritten_than_was_changed(before: Any, left: Any, path: str) -> None:
    """As far as the contract has a path for it."""
    assert find_change(before, left)[0] == path


def test_a_denial_names_its_hook_and_says_why() -> None:
    """What a failed hook raised is not told to others."""
    denied = write_denial(Outcome(False, hook="guard", reason="no"))
    assert (denied.reason, denied.message) == ("amplifier:guard", "no")
    failed = answer("guard", RuntimeError("a secret"), action="deny", reason="a secret")
    told = write_denial(Outcome(False, hook="guard", reason="a secret", answers=(failed,)))
    assert told.message == "hook 'guard' failed"
    assert write_denial(Outcome(False)).to_wire()["message"] == "no reason given"


def test_all_questions_stand_in_one_denial_that_may_be_lifted() -> None:
    """With who asks, and the digest of what would run."""
    asked = [
        ApprovalQuestion(f"{name}?", ("Allow", "Deny"), 5, "deny", hook=name, digest="d")
        for name in ("one", "two")
    ]
    verdict = write_question(asked, ())
    assert verdict.is_liftable
    assert (verdict.reason, verdict.message) == ("amplifier:one", "one?; two?")
    assert [one["hook"] for one in (verdict.approval or {})["questions"]] == ["one", "two"]


def test_warnings_are_told_and_what_is_for_information_is_not() -> None:
    """With the hook that warns."""
    answers = [
        answer(user_message="careful", user_message_level="warning"),
        answer(user_message="by the way"),
        answer(),
    ]
    verdict = write_permission(1, 1, answers)
    assert [(one.reason, one.message) for one in verdict.warnings] == [
        ("amplifier:mine", "careful")
    ]
    assert write_permission({"a": 1}, {"a": 2}, answers).warnings == verdict.warnings


def test_a_change_of_type_alone_is_a_change() -> None:
    """For Python 1 equals True; for a tool it may not."""
    assert write_permission({"force": False}, {"force": False}, ()).transform is None
    change = write_permission({"force": False}, {"force": 0}, ()).transform
    assert change is not None
    assert (change.path, type(change.value)) == ("$target.force", int)

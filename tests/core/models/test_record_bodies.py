"""The bodies of records."""

from types import SimpleNamespace

import pytest

from amplifier_core.models import CONTINUE
from amplifier_core.models.record_bodies import (
    describe_answer,
    describe_answers,
    find_before,
    leave_out_histories,
)


@pytest.mark.parametrize(
    ("event", "kept"),
    [("provider:response", True), ("prompt:answer", True), ("prompt:complete", False)],
)
def test_what_was_said_is_kept_once(event, kept):
    """With the event by which hooks judge it, and not again with those that repeat it."""
    data = {"response": "hello", "prompt": "x", "timestamp": "t", "session_id": "s"}
    expected = {"response": "hello", "prompt": "x"} if kept else {"prompt": "x"}
    assert leave_out_histories(event, data) == expected


def test_fields_that_hooks_left_alone_are_not_told_twice():
    """The same data, or a copy of it."""
    given = {"tool_name": "Write", "tool_input": {"a": [1]}, "timestamp": "t"}
    assert find_before("tool:pre", given, given) == {}
    assert find_before("tool:pre", given, {**given, "tool_input": {"a": [1]}}) == {}


def test_a_changed_field_is_told_as_it_was():
    """One that hooks added was nothing; one that they removed is told."""
    given = {"tool_name": "Write", "tool_input": {"a": 1}, "extra": 1}
    left = {"tool_name": "Write", "tool_input": {"a": 2}, "added": 3, "denied_by": "guard"}
    before = find_before("tool:pre", given, left)
    assert before == {"tool_input": {"a": 1}, "extra": 1, "added": None}


def test_a_number_is_not_the_truth():
    """1 and True are equal, and not the same in JSON."""
    assert find_before("x:y", {"a": 1}, {"a": True}) == {"a": 1}


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.0, 0.0), (0.0000004, 0.0), (0.0000016, 0.002), (0.0214567, 21.457), (61.5, 61500.0)],
)
def test_how_long_a_hook_took_is_told_in_milliseconds_with_three_digits(seconds, expected):
    """The same whether all were quiet or one spoke."""
    handler = SimpleNamespace(name="guard", id=3)
    plan = SimpleNamespace(entries=((0, "x", handler), (0, "x", SimpleNamespace(name="no", id=4))))
    run = SimpleNamespace(
        times={3: seconds}, spoken=(), unheeded=(), shadowed=(), plan=plan, ran=2, answers=()
    )
    quiet = {"hook": "guard", "id": 3, "action": "continue", "ms": expected}
    assert describe_answers(run) == [quiet]
    answer = SimpleNamespace(result=CONTINUE, error=None, handler=handler, hook="guard")
    assert describe_answer(answer, run) == quiet

"""The HookResult in what a handler returned."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import pytest

from amplifier_core.answers import read_answer
from amplifier_core.errors import InvalidHookResult
from amplifier_core.models import CONTINUE, HookResult


def test_none_and_dicts_are_answers():
    assert read_answer(None) is CONTINUE
    assert read_answer({"action": "deny", "reason": "no"}).reason == "no"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"action": "shout"}, "a dict that is not a HookResult"),
        ({1: 2}, "a dict that is not a HookResult"),
        (
            {"actoin": "deny"},
            "is not a HookResult: actoin: HookResult has no field 'actoin'; did you mean 'action'",
        ),
        ("deny", "returned str, not a HookResult"),
        (HookResult(action="modify"), "'modify' without a dict in data"),
        (HookResult().model_copy(update={"action": "shout"}), "the unknown action 'shout'"),
        (
            HookResult.model_construct(action="inject_context", context_injection=5),
            "something that is not text",
        ),
    ],
)
def test_what_is_no_answer_is_refused(answer, text):
    """Also when it was built past its validation."""
    with pytest.raises(InvalidHookResult, match=text):
        read_answer(answer)

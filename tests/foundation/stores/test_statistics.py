"""Figures about hooks."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_foundation.stores.errors import BadRequest
from amplifier_foundation.stores.statistics import list_answers
from amplifier_foundation.stores.store import Store
from amplifier_foundation.stores.values.session import SessionRecord

ANSWER = {"hook": "guard", "action": "deny", "ms": 2.5}


def test_the_answers_of_a_dispatch_are_counted_in_their_hour() -> None:
    """Each hook by itself."""
    record = SessionRecord(1, 7205.0, "dispatch", "tool:pre", body={"hooks": [ANSWER, ANSWER]})
    counted = list(list_answers(record))
    assert [(one.hour, one.hook, one.action, one.milliseconds) for one in counted] == [
        (7200.0, "guard", "deny", 2.5)
    ] * 2


def test_a_decision_on_its_own_is_counted_and_other_records_are_not() -> None:
    """As trails of the lowest level have it."""
    assert len(list(list_answers(SessionRecord(1, 1.0, "action_resolved", body=ANSWER)))) == 1
    assert list(list_answers(SessionRecord(1, 1.0, "hook_finished", body=ANSWER))) == []


@given(
    st.recursive(
        st.none() | st.floats() | st.text(),
        lambda v: (
            st.lists(v) | st.dictionaries(st.sampled_from(["hook", "hooks", "ms", "action"]), v)
        ),
        max_leaves=8,
    )
)
def test_no_body_breaks_the_count(body: Any) -> None:
    """Whatever an agent sends: figures are finite numbers."""
    for type in ("dispatch", "action_resolved"):
        content = body if isinstance(body, dict) else {"hooks": body}
        for answer in list_answers(SessionRecord(1, 1.0, type, body=content)):
            assert math.isfinite(answer.milliseconds)
            assert isinstance(answer.action, str)


async def test_a_time_that_is_none_is_refused(store: Store) -> None:
    """Not a number is no time."""
    odd: Any
    for odd in (math.nan, math.inf, "yesterday", None):
        with pytest.raises(BadRequest):
            await store.statistics.read(odd)
        with pytest.raises(BadRequest):
            await store.statistics.overrulings(odd)

"""Which records are asked for, and what hooks answered in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.record import Record
from amplifier_hooks.trails.filters import Filter, list_actions, list_hooks

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


def make_record(type: str = "dispatch", **members: Any) -> Record:
    return {
        "type": type,
        "time": "2026-11-15T09:00:00.000000000Z",
        "session": "s1",
        "event": "tool:pre",
        "hook": None,
        "body": {},
        **members,
    }


DISPATCH = make_record(
    body={
        "action": "deny",
        "hooks": [
            {"hook": "guard", "action": "deny", "ms": 2},
            {"hook": "linter", "action": "inject_context", "ms": 0.5},
        ],
    }
)
RESOLVED = make_record("action_resolved", hook="asker", body={"action": "ask_user", "ms": 1})
OTHER = make_record("user_message", session="s2", event=None, body={"text": "hello"})


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, [DISPATCH, RESOLVED, OTHER]),
        ({"session": "s1"}, [DISPATCH, RESOLVED]),
        ({"type": "user_message"}, [OTHER]),
        ({"event": "tool:pre"}, [DISPATCH, RESOLVED]),
        ({"hook": "linter"}, [DISPATCH]),
        ({"hook": "asker"}, [RESOLVED]),
        ({"action": "deny"}, [DISPATCH]),
        ({"action": "inject_context"}, [DISPATCH]),
        ({"action": "ask_user"}, [RESOLVED]),
        ({"hook": "guard", "session": "s2"}, []),
        ({"after": "2026-11-15T09"}, [DISPATCH, RESOLVED, OTHER]),
        ({"after": "2026-11-15T10"}, []),
        ({"before": "2026-11-15T09:00:00"}, []),
        ({"before": "2026-11-16"}, [DISPATCH, RESOLVED, OTHER]),
    ],
)
def test_all_that_is_asked_for_must_fit(wanted: dict[str, str], found: list[Record]) -> None:
    """Members of the record, hooks and actions inside it, times from and before."""
    assert [one for one in (DISPATCH, RESOLVED, OTHER) if Filter(**wanted).matches(one)] == found


def test_the_answers_of_hooks_are_found_in_both_kinds_of_record() -> None:
    """One record of a dispatch has several, one of a decision has one."""
    assert list_hooks(DISPATCH) == {"guard", "linter"}
    assert list_actions(DISPATCH) == {"deny", "inject_context"}
    assert (list_hooks(RESOLVED), list_actions(RESOLVED)) == ({"asker"}, {"ask_user"})


@given(st.sampled_from(["dispatch", "action_resolved", "x"]), JSON, JSON, JSON)
def test_records_of_any_shape_can_be_asked(type: str, hook: Any, hooks: Any, action: Any) -> None:
    """They are not verified here, and long names are written as objects."""
    record = make_record(type, hook=hook, body={"hooks": hooks, "action": action, "ms": action})
    wanted = Filter(hook="guard", action="deny")
    assert wanted.matches(record) in (True, False)
    assert all(isinstance(name, str) for name in list_hooks(record) | list_actions(record))

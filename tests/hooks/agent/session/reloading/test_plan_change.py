"""A change of a plan, made again in a newer plan."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.session.reloading.plan_change import repeat_change

NAMES = st.sampled_from("abcd")
VALUES = st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2)
ENTRIES = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=2), max_size=4).map(
    lambda found: [{"module": name, "config": config} for name, config in found.items()]
)
PLANS = st.fixed_dictionaries(
    {}, optional={"hooks": ENTRIES, "session": st.dictionaries(NAMES, VALUES, max_size=3)}
)


@given(base=PLANS, newer=PLANS)
def test_without_a_change_the_newer_plan_is_used(base: Any, newer: Any) -> None:
    """Nothing was changed: nothing is changed again."""
    assert repeat_change(base, base, newer) == newer


@given(base=PLANS, changed=PLANS)
def test_without_an_edit_the_changed_plan_stays(base: Any, changed: Any) -> None:
    """The files say what they said: the plan stays what the hooks made of it."""
    assert in_any_order(repeat_change(base, changed, base)) == in_any_order(changed)


def in_any_order(plan: dict[str, Any]) -> dict[str, Any]:
    hooks = sorted(plan.get("hooks", []), key=lambda entry: entry["module"])
    return {**plan, "hooks": hooks} if "hooks" in plan else plan


@pytest.mark.parametrize(
    ("base", "changed", "newer", "expected"),
    [
        (["a"], ["a", "guard"], ["a", "b"], ["a", "b", "guard"]),
        (["a", "b"], ["b"], ["a", "b", "c"], ["b", "c"]),
        ([{"module": "a", "priority": 1}], [{"module": "a", "priority": 2}], [], []),
        (
            [{"module": "a"}],
            [{"module": "a", "required": True}],
            [{"module": "a", "priority": 3}],
            [{"module": "a", "priority": 3, "required": True}],
        ),
        ([1, 2], [1, 2, 3], [1], [1, 2, 3]),
    ],
)
def test_lists_of_modules_are_merged_by_entry(
    base: list[Any], changed: list[Any], newer: list[Any], expected: list[Any]
) -> None:
    """Added is added, removed is removed, changed is changed; what is gone stays gone."""
    assert repeat_change(base, changed, newer) == expected

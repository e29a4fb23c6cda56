"""Limits: what is refused is named, with the figure."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_foundation.stores.checks import limits
from amplifier_foundation.stores.errors import BadRequest
from tests.support.stores import make_request, require


def test_a_usual_request_is_good() -> None:
    """And one with everything at its limit."""
    limits.refuse_bad_request(make_request())
    limits.refuse_bad_request(
        make_request(
            prompt="x" * limits.PROMPT,
            preview="x" * limits.PREVIEW,
            timeout=limits.LONGEST,
            session_id="s" * limits.NAME,
            notes=("n",) * limits.OPTIONS,
            requirement=require(persons=limits.PERSONS),
        )
    )


@pytest.mark.parametrize(
    "field",
    ["key", "session_id", "hook", "digest", "event", "tool_name", "requester", "working_dir"],
)
@pytest.mark.parametrize("value", [None, 7, "x" * 401, "a\0b", "\ud800"])
def test_names_are_kept_as_they_are_or_refused(field: str, value: Any) -> None:
    """A name that a database would change names something else."""
    with pytest.raises(BadRequest, match=field):
        limits.refuse_bad_request(make_request(**{field: value}))


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": None},
        {"reason": 7},
        {"preview": "x" * (limits.PREVIEW + 1)},
        {"notes": ("n",) * 17},
        {"notes": ("x" * (limits.PROMPT + 1),)},
        {"requirement": require(persons=17)},
        {"requirement": require(persons=True)},
        {"requirement": require(requester_may_approve="yes")},
        {"requirement": require(scope="a\0")},
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    """Whatever type it has."""
    with pytest.raises(BadRequest):
        limits.refuse_bad_request(make_request(**change))


@given(st.text(max_size=50))
def test_a_cleaned_text_can_be_kept_by_every_database(text: str) -> None:
    """No NUL, no half of a pair; everything else is as it was."""
    cleaned = limits.clean_text(text, 40)
    cleaned.encode()
    assert "\0" not in cleaned
    assert len(cleaned) == min(len(text), 40)
    changed = [new for old, new in zip(text, cleaned, strict=False) if old != new]
    assert set(changed) <= {"\N{REPLACEMENT CHARACTER}"}


@given(st.one_of(st.floats(), st.integers(), st.booleans(), st.text(), st.none()))
def test_seconds_are_above_zero_and_finite(value: Any) -> None:
    """A truth value is no number."""
    number = not isinstance(value, bool) and isinstance(value, int | float)
    if number and math.isfinite(value) and 0 < value <= 100:
        assert limits.read_seconds("wait", value, 100.0) == value
    else:
        with pytest.raises(BadRequest, match="wait"):
            limits.read_seconds("wait", value, 100.0)


def test_json_has_a_limit_and_no_odd_values() -> None:
    """Depth, NaN, and objects that are no JSON are refused in words."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, math.nan, {"x": {1j}}, {(1, 2): 3}, "x" * 100):
        with pytest.raises(BadRequest, match="input"):
            limits.write_json("input", value, 50)
    assert limits.write_json("input", {"a": [1, None, "\ud800"]}, 50) == '{"a":[1,null,"\\ud800"]}'

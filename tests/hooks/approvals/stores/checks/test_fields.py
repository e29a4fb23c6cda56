"""Single values: what cannot be kept as it is, is refused or made readable."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.stores import checks


@given(st.text(max_size=50))
def test_a_cleaned_text_can_be_kept_by_every_database(text: str) -> None:
    """No NUL, no half of a pair; everything else is as it was."""
    cleaned = checks.clean_text(text, 40)
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
        assert checks.read_seconds("wait", value, 100.0) == value
    else:
        with pytest.raises(BadRequest, match="wait"):
            checks.read_seconds("wait", value, 100.0)


def test_json_has_a_limit_and_no_odd_values() -> None:
    """Depth, NaN, and objects that are no JSON are refused in words."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, math.nan, {"x": {1j}}, {(1, 2): 3}, "x" * 100):
        with pytest.raises(BadRequest, match="input"):
            checks.write_json("input", value, 50)
    assert checks.write_json("input", {"a": [1, None, "\ud800"]}, 50) == '{"a":[1,null,"\\ud800"]}'

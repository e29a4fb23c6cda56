"""Regular expressions that no text can stall."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_foundation.policy.patterns import PatternSet, compile_pattern
from amplifier_foundation.policy.secret_shapes import SHAPES
from tests.foundation.policy.secrets_made import (
    framed_secrets,
)

TOGETHER = PatternSet(list(SHAPES.values()), "test")

ALONE = [compile_pattern(source, "test") for source in SHAPES.values()]


@given(st.text(max_size=300), st.lists(framed_secrets(), max_size=3))
def test_the_one_pass_search_finds_what_each_pattern_finds(text: str, framed: list[Any]) -> None:
    """Looking for all patterns at once overlooks none."""
    whole = text.join(part for _, part in framed) + text
    together = [number for number, _ in TOGETHER.find_candidates(whole)]
    assert together == [number for number, one in enumerate(ALONE) if one.occurs_in(whole)]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "(x+x+)+y"])
def test_hostile_own_patterns_cannot_stall(pattern: str) -> None:
    """Own patterns run on the linear-time engine, too."""
    start = time.perf_counter()
    assert not compile_pattern(pattern, "test").occurs_in("a" * 100_000 + "b")
    assert time.perf_counter() - start < 5

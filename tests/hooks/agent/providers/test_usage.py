"""Counts of tokens, completed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_hooks.agent.providers.usage import build_usage, complete_counts


@pytest.mark.parametrize(
    ("counts", "whole"),
    [
        ({}, (0, 0, 0)),
        ({"output_tokens": 3}, (0, 3, 3)),
        ({"input_tokens": 9, "output_tokens": 3}, (9, 3, 12)),
        ({"input_tokens": 9, "output_tokens": 3, "total_tokens": 20}, (9, 3, 20)),
        ({"input_tokens": 9, "output_tokens": 3, "total_tokens": None}, (9, 3, 12)),
    ],
)
def test_what_is_missing_follows_from_the_rest(
    counts: dict[str, Any], whole: tuple[int, ...]
) -> None:
    """A total that was counted stands."""
    usage = build_usage(**counts)
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == whole


def test_other_counts_are_kept() -> None:
    """Those of the cache, and those that only one server has."""
    usage = build_usage(input_tokens=9, cache_read_tokens=4, web_searches=2)
    assert usage.cache_read_tokens == 4
    assert usage.model_extra == {"web_searches": 2}


def test_a_count_that_is_no_number_is_found_by_the_model() -> None:
    """Completing it is no place for an exception of its own."""
    assert complete_counts({"input_tokens": "many", "output_tokens": 3})["total_tokens"] == 3
    with pytest.raises(ValidationError, match="input_tokens"):
        build_usage(input_tokens="many")

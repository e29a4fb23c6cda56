"""What a call of a model costs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.cost_control.price import (
    BUILT_IN_PRICES,
    Price,
    compute_cost,
    find_price,
)


def test_usage_inside_the_response_counts_too() -> None:
    """Cached tokens have their own price and are parts of the input."""
    price = Price(input=10, output=20, cache_read=1, cache_write=12.5)
    usage = {
        "input_tokens": 1_000_000,
        "output_tokens": 100_000,
        "cache_read_tokens": 500_000,
        "cache_write_tokens": 200_000,
    }
    tokens, money = compute_cost(usage, price)
    assert tokens == 1_100_000
    assert money == pytest.approx(3 + 0.5 + 2.5 + 2)


@given(
    st.dictionaries(
        st.sampled_from(["input_tokens", "output_tokens", "cache_read_tokens"]),
        st.integers() | st.floats(),
    )
)
def test_no_usage_is_ever_worth_less_than_nothing(usage: dict[str, Any]) -> None:
    """Negative, infinite and not-a-number counts add nothing."""
    tokens, money = compute_cost(usage, Price(input=1, output=1))
    assert tokens >= 0
    assert money >= 0


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("claude-sonnet-4-5", "claude-sonnet"),
        ("anthropic/claude-haiku-4", "claude-haiku"),
        ("claude-new-thing", "claude"),
        ("gpt-4o-mini-2024", "gpt-4o-mini"),
        ("gpt-4o", "gpt-4o"),
        ("GPT-5-MINI", "gpt-5-mini"),
        ("o3-pro", "o3"),
    ],
)
def test_the_longest_prefix_names_the_price(model: str, key: str) -> None:
    """Built-in prices by prefix; the user's own come first."""
    assert find_price(model, {}, None) == BUILT_IN_PRICES[key]
    own = Price(input=1, output=1)
    assert find_price(model, {model: own}, None) == own
    assert find_price(None, {}, own) == own

"""Tokens and money."""

from __future__ import annotations

import pytest

from amplifier_hooks.insight.reports.figures.spending import Spending


def test_known_models_have_a_price_and_others_only_tokens() -> None:
    """Money is never made up."""
    spending = Spending()
    spending.take("claude-sonnet-4", {"input_tokens": 1_000_000, "output_tokens": 100_000})
    spending.take("house-model", {"input_tokens": 5, "output_tokens": 7})
    known, unknown = spending.models["claude-sonnet-4"], spending.models["house-model"]
    assert known.money == pytest.approx(3 + 1.5)
    assert (unknown.tokens, unknown.money, unknown.unpriced) == (12, 0.0, 12)
    assert spending.total.tokens == 1_100_012
    assert spending.total.requests == 2


def test_a_cost_that_the_provider_told_counts() -> None:
    """Its own figure is better than a list price."""
    spent = Spending().take("house-model", {"input_tokens": 5, "cost_usd": 0.25})
    assert (spent.money, spent.unpriced) == (0.25, 0)


def test_nonsense_counts_nothing() -> None:
    """A forged record cannot make a cost of infinity."""
    usage = {"input_tokens": -5, "output_tokens": "many", "cost_usd": float("inf")}
    spent = Spending().take("gpt-5", usage)
    assert (spent.input, spent.output, spent.tokens, spent.money) == (0, 0, 0, 0.0)


def test_sessions_add_up() -> None:
    """The spending of two sessions is that of both."""
    both, one = Spending(), Spending()
    one.take("local", {"input_tokens": 3})
    both.add(one)
    both.add(one)
    assert both.models["local"].input == 6

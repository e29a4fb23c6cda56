"""Tokens and money, for each model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_hooks.guards.cost_control import compute_cost, find_price
from amplifier_hooks.insight.reports.figures.kept import Named

_MOST_MODELS = 50


@dataclass(slots=True)
class Spent:
    """What one model was asked for."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    tokens: int = 0
    money: float = 0.0
    unpriced: int = 0
    """Tokens for which there is no price."""

    def add(self, other: Spent) -> None:
        """Take the figures of another one in."""
        self.requests += other.requests
        self.input += other.input
        self.output += other.output
        self.cached += other.cached
        self.tokens += other.tokens
        self.money += other.money
        self.unpriced += other.unpriced


@dataclass(slots=True)
class Spending:
    """What a session, or several, spent on models."""

    models: Named[Spent] = field(default_factory=lambda: Named(Spent, _MOST_MODELS))

    def take(self, model: str, usage: Mapping[str, Any]) -> Spent:
        """Count one reply of a model; returns what it was."""
        price = find_price(model, {}, None)
        tokens, money = compute_cost(dict(usage), price)
        told = usage.get("cost_usd")
        is_told = isinstance(told, int | float) and 0 <= told < float("inf")
        one = Spent(
            requests=1,
            input=_read_count(usage, "input_tokens"),
            output=_read_count(usage, "output_tokens"),
            cached=_read_count(usage, "cache_read_tokens"),
            tokens=tokens,
            money=float(told) if is_told and told is not None else money,
            unpriced=0 if price or is_told else tokens,
        )
        self.models.take(model or "(a model without a name)").add(one)
        return one

    def add(self, other: Spending) -> None:
        """Take the figures of another session in."""
        for name, spent in other.models.items():
            self.models.take(name).add(spent)

    @property
    def total(self) -> Spent:
        """All models together."""
        total = Spent()
        for spent in self.models.values():
            total.add(spent)
        return total


def _read_count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if type(value) is int and value > 0 else 0

"""What a call of a model costs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

_MILLION = 1_000_000


class Price(BaseModel):
    """Money for a million tokens. Without their own price, cached tokens cost what input costs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cache_read: float | None = Field(None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(None, ge=0, allow_inf_nan=False)


BUILT_IN_PRICES: dict[str, Price] = {
    "claude-opus": Price(input=15, output=75, cache_read=1.5, cache_write=18.75),
    "claude-sonnet": Price(input=3, output=15, cache_read=0.3, cache_write=3.75),
    "claude-haiku": Price(input=1, output=5, cache_read=0.1, cache_write=1.25),
    "claude": Price(input=15, output=75, cache_read=1.5, cache_write=18.75),
    "gpt-5-nano": Price(input=0.05, output=0.4, cache_read=0.005),
    "gpt-5-mini": Price(input=0.25, output=2, cache_read=0.025),
    "gpt-5": Price(input=1.25, output=10, cache_read=0.125),
    "gpt-4.1-nano": Price(input=0.1, output=0.4, cache_read=0.025),
    "gpt-4.1-mini": Price(input=0.4, output=1.6, cache_read=0.1),
    "gpt-4.1": Price(input=2, output=8, cache_read=0.5),
    "gpt-4o-mini": Price(input=0.15, output=0.6, cache_read=0.075),
    "gpt-4o": Price(input=2.5, output=10, cache_read=1.25),
    "gpt": Price(input=10, output=30),
    "o1": Price(input=15, output=60, cache_read=7.5),
    "o3": Price(input=2, output=8, cache_read=0.5),
    "o4-mini": Price(input=1.1, output=4.4, cache_read=0.275),
    "gemini": Price(input=1.25, output=10),
    "scripted": Price(input=0, output=0),
    "local": Price(input=0, output=0),
}
"""List prices in US dollars, for want of better; a bare family name is its dearest model."""


def find_price(model: str | None, prices: dict[str, Price], unknown: Price | None) -> Price | None:
    """The price under the longest prefix of the model's name, a vendor before it or not."""
    name = (model or "").casefold()
    names = {name, name.rpartition("/")[2]}
    table = {**BUILT_IN_PRICES, **{prefix.casefold(): p for prefix, p in prices.items()}}
    fitting = [prefix for prefix in table if any(one.startswith(prefix) for one in names)]
    return table[max(fitting, key=len)] if fitting else unknown


def compute_cost(usage: dict[str, Any], price: Price | None) -> tuple[int, float]:
    """Tokens and money of one call."""
    given, made = _read_count(usage, "input_tokens"), _read_count(usage, "output_tokens")
    read, written = (
        _read_count(usage, "cache_read_tokens"),
        _read_count(usage, "cache_write_tokens"),
    )
    total = max(given + made, _read_count(usage, "total_tokens"))
    if price is None:
        return total, 0.0
    plain = max(given - read - written, 0)
    read_price = price.input if price.cache_read is None else price.cache_read
    write_price = price.input if price.cache_write is None else price.cache_write
    money = plain * price.input + read * read_price + written * write_price + made * price.output
    return total, money / _MILLION


def _read_count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    if not isinstance(value, int | float) or not 0 < value < float("inf"):
        return 0
    return int(value)

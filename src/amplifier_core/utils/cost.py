"""Amounts of money, exact to the last digit."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer


def _refuse_float(value: Any) -> Any:
    if isinstance(value, float):
        raise ValueError("a cost must be Decimal, int or str: a float has lost digits already")  # noqa: TRY004 - pydantic reports it
    return value


def _write(cost: Decimal | None) -> str | None:
    return None if cost is None else str(cost)


CostUsd = Annotated[
    Decimal | None,
    BeforeValidator(_refuse_float),
    PlainSerializer(_write, return_type=str | None),
]
"""A cost in dollars. None is unknown, which is not zero; every dump writes a string."""

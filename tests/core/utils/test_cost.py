"""Amounts of money, exact to the last digit."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from amplifier_core.message_models import CostUsd


class Bill(BaseModel):
    cost_usd: CostUsd = None


@pytest.mark.parametrize("cost", [Decimal("0.1"), "0.1"])
def test_it_is_a_decimal_inside_and_a_string_outside(cost: Any) -> None:
    """Every dump, for Python and for JSON."""
    bill = Bill(cost_usd=cost)
    assert type(bill.cost_usd) is Decimal
    assert bill.model_dump() == json.loads(bill.model_dump_json()) == {"cost_usd": "0.1"}
    assert Bill.model_validate(bill.model_dump()) == bill


def test_a_whole_number_will_do() -> None:
    """It has all its digits."""
    assert Bill(cost_usd=3).cost_usd == Decimal(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("cost", [0.1, 0.0, float("nan")])
def test_a_float_is_refused(cost: Any) -> None:
    """It has lost digits before anybody could look."""
    with pytest.raises(ValidationError, match="must be Decimal"):
        Bill(cost_usd=cost)


def test_unknown_is_not_zero() -> None:
    """A local model costs nothing; of others the price may not be known."""
    assert Bill().model_dump() == {"cost_usd": None}
    assert Bill(cost_usd=Decimal(0)).model_dump() == {"cost_usd": "0"}
    assert Bill() != Bill(cost_usd=Decimal(0))

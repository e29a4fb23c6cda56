"""What a provider says of itself."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.models import ConfigField, ModelInfo, Pricing, ProviderInfo


def test_a_provider_needs_a_name_only() -> None:
    """Each has lists of its own, so that one may add to them."""
    one, other = (ProviderInfo(id="p", display_name="P") for _ in range(2))
    one.capabilities.append("tools")
    one.defaults["model"] = "m"
    assert other.model_dump() == {
        "id": "p",
        "display_name": "P",
        "credential_env_vars": [],
        "capabilities": [],
        "defaults": {},
        "config_fields": [],
    }


def test_a_model_has_limits() -> None:
    """Contexts make room by them."""
    model = ModelInfo(id="m", display_name="M", context_window=8000, max_output_tokens=1000)
    assert (model.capabilities, model.defaults, model.pricing) == ([], {}, None)
    with pytest.raises(ValidationError, match="max_output_tokens"):
        ModelInfo(id="m", display_name="M", context_window=8000)  # type: ignore[call-arg]


def test_a_price_is_in_dollars_unless_it_says_otherwise() -> None:
    """By the million tokens, as every price list has it."""
    price = Pricing(input_per_million=3, output_per_million=15)
    assert price.model_dump() == {
        "input_per_million": 3.0,
        "output_per_million": 15.0,
        "cache_read_per_million": None,
        "cache_write_per_million": None,
        "currency": "USD",
    }


@pytest.mark.parametrize("currency", ["usd", "US", "USDT", "U$D", "EUR\n", ""])
def test_a_currency_has_three_capitals(currency: str) -> None:
    """The codes of the standard."""
    with pytest.raises(ValidationError, match="currency"):
        Pricing(input_per_million=1, output_per_million=1, currency=currency)


@pytest.mark.parametrize("kind", ["text", "secret", "choice", "boolean"])
def test_a_setting_is_of_one_of_four_kinds(kind: Any) -> None:
    """What a person is asked for when the provider is set up."""
    field = ConfigField(id="f", display_name="F", field_type=kind, prompt="?")
    assert (field.required, field.requires_model, field.choices) == (True, False, None)


def test_another_kind_is_refused() -> None:
    """An app would not know what to show."""
    with pytest.raises(ValidationError, match="field_type"):
        ConfigField(id="f", display_name="F", field_type="slider", prompt="?")  # type: ignore[arg-type]

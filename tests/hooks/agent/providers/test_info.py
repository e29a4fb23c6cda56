"""What a provider says of itself and of its models."""

from __future__ import annotations

from amplifier_core.capabilities import ALL_WELL_KNOWN_CAPABILITIES
from amplifier_core.models import ProviderInfo
from amplifier_hooks.agent.providers.info import describe_model, describe_remote


def test_what_is_not_known_is_not_said() -> None:
    """A context that finds no window in the defaults takes its own."""
    info = describe_remote("p", "P", ("P_KEY", "P_URL"), {"model": "m", "context_window": None})
    assert info.defaults == {"model": "m"}
    assert set(info.capabilities) <= set(ALL_WELL_KNOWN_CAPABILITIES)
    assert [field.id for field in info.config_fields] == ["api_key", "base_url", "model"]


def test_a_model_has_its_own_limits_or_the_providers_or_none() -> None:
    """Zero is a limit that nobody knows."""
    defaults = {"context_window": 1000, "max_output_tokens": 100}
    info = ProviderInfo(id="p", display_name="P", capabilities=["tools"], defaults=defaults)
    own = describe_model("m", info, title="M", context_window=5000, max_output_tokens=None)
    assert (own.display_name, own.context_window, own.max_output_tokens) == ("M", 5000, 100)
    assert own.capabilities == ["tools"]
    bare = describe_model("m", ProviderInfo(id="p", display_name="P"))
    assert (bare.display_name, bare.context_window, bare.max_output_tokens) == ("m", 0, 0)

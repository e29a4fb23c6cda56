"""What a provider says of itself and of its models."""

from __future__ import annotations

from typing import Any

from amplifier_core.capabilities import STREAMING, THINKING, TOOLS, VISION
from amplifier_core.models import ConfigField, ModelInfo, ProviderInfo

_CAPABILITIES = [TOOLS, STREAMING, THINKING, VISION]


def describe_remote(
    provider_id: str, title: str, variables: tuple[str, str], defaults: dict[str, Any]
) -> ProviderInfo:
    """A provider that calls a server; `variables` hold its key and its address."""
    key, address = variables
    return ProviderInfo(
        id=provider_id,
        display_name=title,
        credential_env_vars=[key],
        capabilities=_CAPABILITIES,
        defaults={name: value for name, value in defaults.items() if value is not None},
        config_fields=[
            ConfigField(
                id="api_key",
                display_name="API key",
                field_type="secret",
                prompt=f"The API key of {title}",
                env_var=key,
            ),
            ConfigField(
                id="base_url",
                display_name="Server",
                prompt=f"The address of the server, if it is not {title}'s own",
                env_var=address,
                required=False,
            ),
            ConfigField(
                id="model",
                display_name="Model",
                prompt="The model to ask",
                required=False,
                default=defaults.get("model"),
            ),
        ],
    )


def describe_model(
    model: str, info: ProviderInfo, *, title: str | None = None, **known: int | None
) -> ModelInfo:
    """A model; a figure that neither the server nor the provider knows is 0."""
    window = known.get("context_window") or info.defaults.get("context_window")
    output = known.get("max_output_tokens") or info.defaults.get("max_output_tokens")
    return ModelInfo(
        id=model,
        display_name=title or model,
        context_window=window or 0,
        max_output_tokens=output or 0,
        capabilities=info.capabilities,
    )

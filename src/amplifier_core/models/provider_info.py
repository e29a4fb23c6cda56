"""What a provider says of itself, of its models, and of what has to be configured."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_DEFERRED = ConfigDict(defer_build=True)


class Pricing(BaseModel):
    """What a model costs, by the million tokens."""

    model_config = _DEFERRED

    input_per_million: float
    output_per_million: float
    cache_read_per_million: float | None = None
    cache_write_per_million: float | None = None
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")


class ModelInfo(BaseModel):
    """A model that a provider offers; its capabilities are those of `capabilities`."""

    model_config = _DEFERRED

    id: str
    display_name: str
    context_window: int
    max_output_tokens: int
    capabilities: list[str] = Field(default_factory=list)
    defaults: dict[str, Any] = Field(default_factory=dict)
    pricing: Pricing | None = None


class ConfigField(BaseModel):
    """One setting that a person is asked for when a provider is set up."""

    model_config = _DEFERRED

    id: str
    display_name: str
    field_type: Literal["text", "secret", "choice", "boolean"] = "text"
    prompt: str
    env_var: str | None = None
    choices: list[str] | None = None
    required: bool = True
    default: Any = None
    show_when: dict[str, str] | None = None
    requires_model: bool = False


class ProviderInfo(BaseModel):
    """A provider. Contexts read `context_window` and `max_output_tokens` in its defaults."""

    model_config = _DEFERRED

    id: str
    display_name: str
    credential_env_vars: list[str] = Field(default_factory=list)
    capabilities: list[str] = Field(default_factory=list)
    defaults: dict[str, Any] = Field(default_factory=dict)
    config_fields: list[ConfigField] = Field(default_factory=list)

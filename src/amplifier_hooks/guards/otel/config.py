"""The options of hooks-otel."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_hooks.machine.http import check_url

NAME = "hooks-otel"


class Config(BaseModel):
    """The options of hooks-otel."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    service_name: str = Field("amplifier", min_length=1)
    agent_name: str = Field("amplifier", min_length=1)
    capture_content: bool = False
    max_content_length: int = Field(8192, ge=100)
    timeout: float = Field(5.0, gt=0, le=60)
    interval: float = Field(5.0, gt=0, le=3600)

    @field_validator("endpoint")
    @classmethod
    def _check_endpoint(cls, value: str | None) -> str | None:
        return None if value is None else check_url(value)

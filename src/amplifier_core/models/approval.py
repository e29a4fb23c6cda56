"""The question that a hook module puts to an approval provider, and its answer."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class ApprovalRequest(BaseModel):
    """A question to an approval provider of the ecosystem."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    tool_name: str
    action: str
    details: dict[str, Any] = Field(default_factory=dict)
    risk_level: str
    timeout: float | None = Field(default=None, gt=0)


class ApprovalResponse(BaseModel):
    """Its answer."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    approved: bool
    reason: str | None = None
    remember: bool = False

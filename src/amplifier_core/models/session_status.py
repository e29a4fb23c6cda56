"""How a session is doing, in figures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.utils.cost import CostUsd


class SessionStatus(BaseModel):
    """The figures of one session so far."""

    model_config = ConfigDict(defer_build=True)

    session_id: str
    started_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    status: Literal["running", "completed", "failed", "cancelled"] = "running"
    total_messages: int = 0
    tool_invocations: int = 0
    tool_successes: int = 0
    tool_failures: int = 0
    total_input_tokens: int = 0
    total_output_tokens: int = 0
    cost_usd: CostUsd = None
    last_activity: datetime | None = None
    last_error: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures that are known, ready for JSON."""
        return self.model_dump(mode="json", exclude_none=True)

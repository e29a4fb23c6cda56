"""The turn: one prompt on its way through a loop, and the options of the loop."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.interfaces import ContextManager, Provider, Tool
from amplifier_core.message_models import ToolSpec
from amplifier_core.payloads import Status

SYNONYMS = {"max_iterations": "max_turns", "default_provider": "provider"}
"""What loops of the ecosystem call these options."""


class LoopConfig(BaseModel):
    """Options of the loops."""

    model_config = ConfigDict(extra="forbid")

    max_turns: int = Field(
        default=50, ge=1, description="Requests to the model for one prompt; -1: no limit"
    )
    max_denied: int = Field(default=8, ge=1, description="Rounds in a row with every call denied")
    attempts: int = Field(default=4, ge=1, description="Tries of one request")
    retry_delay: float = Field(default=1.0, ge=0, description="Seconds before the second try")
    max_retry_delay: float = Field(default=60.0, ge=0)
    provider: str | None = Field(default=None, description="Which one; the first if not said")
    system: str | None = Field(default=None, description="Instructions before the conversation")
    parallel_tools: bool = True

    @field_validator("max_turns", mode="before")
    @classmethod
    def _read_no_limit(cls, value: Any) -> Any:
        return sys.maxsize if value == -1 else value


@dataclass
class Turn:
    """The state of one prompt: what it works with, and how far it has come."""

    coordinator: SessionCoordinator
    context: ContextManager
    provider: Provider
    tools: Mapping[str, Tool]
    specs: list[ToolSpec]
    number: int = 1
    """Which turn of the conversation it is."""
    requests: int = 0
    denied_in_a_row: int = 0
    status: Status = "success"
    streamed: bool = False
    """Whether hooks were told of the last reply's text as it arrived."""
    last_message: dict[str, Any] = field(default_factory=dict)
    unfinished: str = ""
    """What has arrived of a reply that was interrupted, without the beginning of a secret."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A hook stopped the turn; `text` is what the user reads instead of a reply."""

    text: str

"""What is known of a module without mounting it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

ModuleType = Literal["orchestrator", "provider", "tool", "context", "hook", "resolver"]


class ModuleInfo(BaseModel):
    """A module that was found, and where it would be mounted."""

    model_config = ConfigDict(defer_build=True)

    id: str
    name: str
    version: str
    type: ModuleType
    mount_point: str
    description: str
    config_schema: dict[str, Any] | None = None

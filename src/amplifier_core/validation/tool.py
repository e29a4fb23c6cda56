"""Whether a module that mounts tools keeps its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_core.validation.base import ValidationResult
from amplifier_core.validation.module import PartValidator

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator


class ToolValidator(PartValidator):
    """Mounts tools."""

    kind = "tool"
    interface = "Tool"
    mount_point = "tools"
    members = ("name", "description", "execute")

    async def try_out(self, coordinator: MockCoordinator, result: ValidationResult) -> None:
        """A model must be able to choose a tool and to call it."""
        for name, tool in self.list_parts(coordinator).items():
            described = bool(getattr(tool, "description", ""))
            wrong = f"Tool '{name}' has no description: the model chooses by it"
            result.check("tool_description", described, f"Tool '{name}' is described", wrong)
            schema = getattr(tool, "input_schema", None)
            fits = isinstance(schema, dict) and schema.get("type") == "object"
            wrong = f"Tool '{name}' needs the schema of an object, got {schema!r}"
            result.check("tool_schema", fits, f"Tool '{name}' has a schema", wrong)

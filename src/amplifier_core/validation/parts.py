"""Whether tools, providers, contexts and loops have what their protocols ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from amplifier_core.utils import resolve
from amplifier_core.validation.base import ValidationResult
from amplifier_core.validation.module import COMPLIANCE, ModuleValidator

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator


class PartValidator(ModuleValidator):
    """Mounts something at a mount point, with the members that its protocol names."""

    interface: ClassVar[str]
    mount_point: ClassVar[str]
    members: ClassVar[tuple[str, ...]]

    def check_protocol(
        self, coordinator: MockCoordinator, undo: Any, result: ValidationResult
    ) -> None:
        """Look at each part that was mounted."""
        parts = self.list_parts(coordinator)
        for name, part in parts.items():
            self._check_members(name, part, result)
        if not parts:
            wrong = f"No {self.kind} was mounted at '{self.mount_point}'"
            instead = f"{wrong}, but mount returned a callable"
            result.check(COMPLIANCE, callable(undo), instead, wrong)

    def list_parts(self, coordinator: MockCoordinator) -> dict[str, Any]:
        """What was mounted, by name."""
        found = coordinator.get(self.mount_point)
        if isinstance(found, dict):
            return found
        return {} if found is None else {type(found).__name__: found}

    def _check_members(self, name: str, part: Any, result: ValidationResult) -> None:
        named = f"{self.kind.capitalize()} '{name}'"
        missing = [member for member in self.members if not hasattr(part, member)]
        result.check(
            COMPLIANCE,
            not missing,
            f"{named} implements {self.interface} interface",
            f"{named} does not implement {self.interface} interface, "
            f"it is missing: {', '.join(missing)}",
        )


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


class ProviderValidator(PartValidator):
    """Mounts providers."""

    kind = "provider"
    interface = "Provider"
    mount_point = "providers"
    members = ("name", "get_info", "list_models", "complete", "parse_tool_calls")


class OrchestratorValidator(PartValidator):
    """Mounts a loop."""

    kind = "orchestrator"
    interface = "Orchestrator"
    mount_point = "orchestrator"
    members = ("execute",)


class ContextValidator(PartValidator):
    """Mounts a conversation."""

    kind = "context"
    interface = "ContextManager"
    mount_point = "context"
    members = ("add_message", "get_messages", "get_messages_for_request", "set_messages", "clear")

    async def try_out(self, coordinator: MockCoordinator, result: ValidationResult) -> None:
        """Add a message and look for it."""
        for name, context in self.list_parts(coordinator).items():
            await resolve(context.add_message({"role": "user", "content": "sample"}))
            found = await resolve(context.get_messages())
            kept = bool(found) and found[-1].get("content") == "sample"
            wrong = f"Context '{name}' was given a message and has {found!r}"
            result.check("context_keeps_messages", kept, f"Context '{name}' keeps messages", wrong)

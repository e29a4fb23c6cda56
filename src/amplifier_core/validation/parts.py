"""Whether tools, providers, contexts and loops have what their protocols ask for."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from amplifier_core.interfaces import ContextManager, Orchestrator, Provider, Tool
from amplifier_core.testing import TestCoordinator
from amplifier_core.validation.module import ModuleValidator
from amplifier_core.validation.report import ValidationResult


class ToolValidator(ModuleValidator):
    """Mounts tools with a name, a description and a schema."""

    kind: ClassVar[str] = "tool"

    async def check(self, coordinator: TestCoordinator, result: ValidationResult) -> None:
        """Look at each tool."""
        tools: dict[str, Any] = coordinator.get("tools")
        result.add("mounts a tool", bool(tools), "nothing at mount point 'tools'")
        for name, tool in tools.items():
            result.add(f"{name} is a Tool", isinstance(tool, Tool), "see interfaces.Tool")
            described = bool(getattr(tool, "description", ""))
            result.add(f"{name} has a description", described, "the model chooses by it")
            schema = getattr(tool, "input_schema", None)
            fits = isinstance(schema, dict) and schema.get("type") == "object"
            result.add(f"{name} has a schema", fits, f"wanted an object schema, got {schema!r}")


class ProviderValidator(ModuleValidator):
    """Mounts a provider."""

    kind: ClassVar[str] = "provider"

    async def check(self, coordinator: TestCoordinator, result: ValidationResult) -> None:
        """Look at each provider."""
        providers: dict[str, Any] = coordinator.get("providers")
        result.add("mounts a provider", bool(providers), "nothing at mount point 'providers'")
        for name, provider in providers.items():
            result.add(f"{name} is a Provider", isinstance(provider, Provider), "see interfaces")


class ContextValidator(ModuleValidator):
    """Mounts a context that keeps what it is given."""

    kind: ClassVar[str] = "context"

    async def check(self, coordinator: TestCoordinator, result: ValidationResult) -> None:
        """Add a message and look for it."""
        context = coordinator.context
        fits = isinstance(context, ContextManager)
        if not result.add("mounts a context", fits, f"found {type(context).__name__}"):
            return
        await _settle(context.add_message({"role": "user", "content": "sample"}))
        found = await _settle(context.get_messages())
        kept = bool(found) and found[-1].get("content") == "sample"
        result.add("keeps messages", kept, f"after adding one it has {found!r}")


class OrchestratorValidator(ModuleValidator):
    """Mounts a loop."""

    kind: ClassVar[str] = "orchestrator"

    async def check(self, coordinator: TestCoordinator, result: ValidationResult) -> None:
        """Look at the loop."""
        loop = coordinator.get("orchestrator")
        result.add("mounts a loop", isinstance(loop, Orchestrator), f"found {type(loop).__name__}")


async def _settle(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value

"""A guard mounted on a real coordinator, and the questions that tests ask of it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.testing import TestCoordinator


def coordinator_in(directory: Path, **settings: Any) -> TestCoordinator:
    """A real coordinator that works in a directory."""
    coordinator = TestCoordinator(**settings)
    coordinator.register_capability("session.working_dir", str(directory))
    return coordinator


async def mount(module: str, coordinator: Any, config: dict[str, Any] | None = None) -> Any:
    """Mount a module as a session would; the answer is its clean-up."""
    return await importlib.import_module(f"amplifier_foundation.hooks.{module}").mount(
        coordinator, config
    )


async def before_tool(coordinator: Any, tool: str, tool_input: dict[str, Any]) -> HookResult:
    """What the hooks answer before a tool runs."""
    result: HookResult = await coordinator.hooks.emit(
        "tool:pre", {"tool_name": tool, "tool_input": tool_input}
    )
    return result

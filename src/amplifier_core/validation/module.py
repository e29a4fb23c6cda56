"""The checks that every kind of module shares: found, mountable, mounted, undone."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from amplifier_core.errors import ModuleError
from amplifier_core.loader import Module, ModuleLoader
from amplifier_core.testing import TestCoordinator
from amplifier_core.utils import describe_error
from amplifier_core.validation.report import ValidationResult


class ModuleValidator:
    """Mounts a module on a real coordinator and looks whether it keeps its contract."""

    kind: ClassVar[str] = "module"

    def __init__(self, loader: ModuleLoader | None = None) -> None:
        self.loader = loader or ModuleLoader()

    async def validate(
        self, module: str | Path, config: Mapping[str, Any] | None = None
    ) -> ValidationResult:
        """Check a module, given by its id or its path."""
        result = ValidationResult(self.kind, str(module))
        found = self._find(module, result)
        if found is None or not self._check_signature(found, result):
            return result
        coordinator = TestCoordinator(config=getattr(self, "plan", None))
        coordinator.register_capability("session.working_dir", str(Path.cwd()))
        try:
            undo = await found.mount(coordinator, dict(config or {}))
        except Exception as error:  # noqa: BLE001 - whatever a module raises is the finding
            result.add("mounts", False, describe_error(error))
            return result
        result.add("mounts", True)
        kept = undo is None or callable(undo)
        result.add("returns a clean-up or None", kept, f"returned {type(undo).__name__}")
        await self.check(coordinator, result)
        if callable(undo):
            await self._check_undo(undo, coordinator, result)
        return result

    async def check(self, coordinator: TestCoordinator, result: ValidationResult) -> None:
        """The checks of this kind, with the module mounted."""

    def _find(self, module: str | Path, result: ValidationResult) -> Module | None:
        source = str(module) if isinstance(module, Path) else None
        try:
            found = self.loader.find(str(module), source)
        except ModuleError as error:
            result.add("can be found and imported", False, str(error))
            return None
        result.add("can be found and imported", True)
        return found

    def _check_signature(self, module: Module, result: ValidationResult) -> bool:
        try:
            inspect.signature(module.mount).bind(object(), {})
        except TypeError as error:
            return result.add("mount takes (coordinator, config)", False, str(error))
        awaited = inspect.iscoroutinefunction(module.mount)
        return result.add("mount is async", awaited, f"{module.origin}: write `async def mount`")

    async def _check_undo(
        self, undo: Any, coordinator: TestCoordinator, result: ValidationResult
    ) -> None:
        try:
            outcome = undo()
            if inspect.isawaitable(outcome):
                await outcome
        except Exception as error:  # noqa: BLE001 - whatever a module raises is the finding
            result.add("its clean-up works", False, describe_error(error))
            return
        left = coordinator.hooks.list_handlers()
        result.add("its clean-up removes every hook", not left, f"still registered: {left}")

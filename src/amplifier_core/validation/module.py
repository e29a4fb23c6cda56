"""The checks that every kind of module shares: it can be imported, it has a mount, it mounts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from amplifier_core.errors import ModuleError
from amplifier_core.loader.module import Mount
from amplifier_core.utils import describe_error, resolve
from amplifier_core.validation.base import ValidationResult, check_on_session_ready, is_async
from amplifier_core.validation.finding import Code, import_code

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator

COMPLIANCE = "protocol_compliance"


class ModuleValidator:
    """Mounts a module on a real coordinator and looks whether it keeps its contract.

    `thorough` also tries what it mounted, as our own modules are tried.
    """

    kind: ClassVar[str] = "module"

    def __init__(self, *, thorough: bool = False) -> None:
        self.thorough = thorough

    async def validate(
        self,
        module_path: str | Path,
        entry_point: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> ValidationResult:
        """Check a module: a file, the folder of a package, an import name or an id."""
        result = ValidationResult(self.kind, str(module_path))
        code = _check_import(module_path, entry_point, result)
        mount = None if code is None else _check_mount(code, result)
        if code is None or mount is None or not _check_signature(mount, result):
            return result
        if (wrong := check_on_session_ready(code.python_module)) is not None:
            result.add(wrong)
        await self._check_mounted(mount, dict(config or {}), result)
        return result

    async def _check_mounted(
        self, mount: Mount, config: dict[str, Any], result: ValidationResult
    ) -> None:
        from amplifier_core.testing import MockCoordinator  # it is for tests, and takes its time

        coordinator = MockCoordinator()
        coordinator.register_capability("session.working_dir", str(Path.cwd()))
        try:
            undo = await mount(coordinator, config)
        except Exception as error:  # noqa: BLE001 - whatever a module raises is the finding
            result.check(COMPLIANCE, False, f"mount failed: {describe_error(error)}")
            return
        try:
            self.check_protocol(coordinator, undo, result)
            if self.thorough:
                await self.try_out(coordinator, result)
        except Exception as error:  # noqa: BLE001 - the same
            result.check(COMPLIANCE, False, f"what was mounted fails: {describe_error(error)}")
        failure = await _clean_up(undo)
        if self.thorough:
            _check_clean_up(undo, failure, coordinator, result)

    def check_protocol(
        self, coordinator: MockCoordinator, undo: Any, result: ValidationResult
    ) -> None:
        """Look at what was mounted; a module that is only a module has nothing to show."""

    async def try_out(self, coordinator: MockCoordinator, result: ValidationResult) -> None:
        """Use what was mounted."""


def _check_import(
    module: str | Path, entry_point: str | None, result: ValidationResult
) -> Code | None:
    try:
        code = import_code(module, entry_point)
    except ModuleError as error:
        result.check("module_importable", False, f"Cannot import the module: {error}")
        return None
    result.check("module_importable", True, f"The module can be imported from {code.origin}")
    return code


def _check_mount(code: Code, result: ValidationResult) -> Mount | None:
    try:
        mount = code.find_mount()
    except ModuleError as error:
        result.check("mount_exists", False, str(error))
        return None
    result.check("mount_exists", True, "The module has a mount function")
    return mount


def _check_signature(mount: Mount, result: ValidationResult) -> bool:
    try:
        inspect.signature(mount).bind(object(), {})
    except (TypeError, ValueError) as error:
        wrong = f"mount must take 2 parameters, (coordinator, config): {error}"
        return result.check("mount_signature", False, wrong)
    message = "mount is async and takes (coordinator, config)"
    wrong = "mount is not async: write `async def mount`"
    return result.check("mount_signature", is_async(mount), message, wrong)


async def _clean_up(undo: Callable[[], Any] | None) -> str:
    """Undo a mount; returns what it raised, if anything."""
    try:
        if callable(undo):
            await resolve(undo())
    except Exception as error:  # noqa: BLE001 - the module was mounted, which is what counts
        return describe_error(error)
    return ""


def _check_clean_up(
    undo: Any, failure: str, coordinator: MockCoordinator, result: ValidationResult
) -> None:
    if undo is None:
        return
    wrong = f"mount returned {type(undo).__name__}, which is neither a clean-up nor None"
    if not result.check("cleanup_callable", callable(undo), "mount returned a clean-up", wrong):
        return
    result.check("cleanup_works", not failure, "The clean-up works", failure)
    left = coordinator.hooks.list_handlers()
    wrong = f"still registered after the clean-up: {left}"
    result.check("cleanup_complete", not left, "The clean-up removes every hook", wrong)

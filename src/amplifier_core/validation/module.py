"""The checks that every kind of module shares: it can be imported, it has a mount, it mounts."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from amplifier_core.errors import ModuleError
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.importing import (
    PREFIX,
    import_with,
    package_name,
)
from amplifier_core.loader.module import Mount, read_module
from amplifier_core.utils import describe_error, resolve
from amplifier_core.validation.base import (
    ValidationResult,
    check_on_session_ready,
    import_module_from_path,
    is_async,
)

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator


@dataclass(frozen=True, slots=True)
class Code:
    """A Python module under test, and the function that mounts it where that has another name."""

    python_module: ModuleType
    origin: str
    function: Any = None
    function_name: str = ""

    def find_mount(self) -> Mount:
        """What mounts it; raises if there is nothing."""
        found = self.function or self.python_module
        if self.function_name:
            found = getattr(self.python_module, self.function_name, None)
        return read_module(self.origin, found, self.origin).mount


def import_code(module: str | Path, entry_point: str | None = None) -> Code:
    """Import a module under test; raises a ModuleError that says why it cannot be imported.

    `entry_point` may name another function than `mount`, as in `package:function`.
    """
    code = _import_path(Path(module)) if _is_path(module) else _import_name(str(module))
    name = (entry_point or "").partition(":")[2]
    if name:
        return Code(code.python_module, code.origin, function_name=name)
    return code


async def mount_code(
    module: str | Path, coordinator: Any, config: dict[str, Any] | None = None
) -> Any:
    """Import and mount a module under test; returns its clean-up, or None."""
    return await import_code(module).find_mount()(coordinator, dict(config or {}))


def find_module_near(file: Path) -> Path | None:
    """The package `amplifier_module_*` that a test file is in, beside or below."""
    for folder in file.parents:
        beside = [*sorted(folder.glob(f"{PREFIX}*")), *sorted(folder.glob(f"src/{PREFIX}*"))]
        for place in (folder, *beside):
            if place.name.startswith(PREFIX) and (place / "__init__.py").is_file():
                return place
    return None


def _is_path(module: str | Path) -> bool:
    return isinstance(module, Path) or "/" in module or module.endswith(".py")


def _import_path(path: Path) -> Code:
    python_module = import_module_from_path(path)
    file = Path(str(python_module.__file__))
    origin = file.parent if file.name == "__init__.py" else file
    return Code(python_module, str(origin))


def _import_name(name: str) -> Code:
    loader = ModuleLoader()
    entry = loader.known().get(name)
    if entry is None and _is_import_name(name):
        return Code(import_with(name, lambda: importlib.import_module(name)), name)
    try:
        function = loader.find(name).mount
    finally:
        loader.cleanup()
    homes = [entry.module if entry is not None else package_name(name), function.__module__]
    return Code(next(sys.modules[one] for one in homes if one in sys.modules), name, function)


def _is_import_name(name: str) -> bool:
    top = name.partition(".")[0]
    known = top in sys.modules or (top.isidentifier() and importlib.util.find_spec(top) is not None)
    return bool(known)


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
        if found is None:
            return {}
        return {type(found).__name__: found}

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

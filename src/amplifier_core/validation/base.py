"""The result of a validation, and the import of the module under test."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from amplifier_core.errors import ModuleNotFound
from amplifier_core.loader.importing import find_package, import_package, import_path

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class ValidationCheck:
    """One promise of the contract, kept or not."""

    name: str
    passed: bool
    message: str = ""
    severity: Severity = "error"


@dataclass(slots=True)
class ValidationResult:
    """All checks of one module."""

    module_type: str
    module_path: str
    checks: list[ValidationCheck] = field(default_factory=list)

    def add(self, check: ValidationCheck) -> None:
        """Note a check."""
        self.checks.append(check)

    def check(
        self,
        name: str,
        passed: bool,
        message: str,
        otherwise: str = "",
        *,
        severity: Severity = "error",
    ) -> bool:
        """Note a check with what to say if it passed, and otherwise; returns whether it did."""
        said = message if passed else otherwise or message
        self.add(ValidationCheck(name, passed, said, "info" if passed else severity))
        return passed

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong; warnings alone are no reason to fail."""
        return not self.errors

    @property
    def errors(self) -> list[ValidationCheck]:
        return self._list_failed("error")

    @property
    def warnings(self) -> list[ValidationCheck]:
        return self._list_failed("warning")

    def _list_failed(self, severity: Severity) -> list[ValidationCheck]:
        return [one for one in self.checks if not one.passed and one.severity == severity]

    def summary(self) -> str:
        """One line."""
        kept = sum(one.passed for one in self.checks)
        return (
            f"{'PASSED' if self.passed else 'FAILED'}: {kept}/{len(self.checks)} checks passed "
            f"({len(self.errors)} errors, {len(self.warnings)} warnings)"
        )

    def describe_errors(self) -> str:
        """The summary, and a line for each promise that was not kept."""
        lines = [f"  {one.name}: {one.message}" for one in self.errors]
        return "\n".join([f"{self.module_path}: {self.summary()}", *lines])


def check_on_session_ready(module: Any) -> ValidationCheck | None:
    """What is wrong with a module's `on_session_ready(coordinator)`; None if nothing is."""
    function = getattr(module, "on_session_ready", None)
    if function is None:
        return None
    if not is_async(function):
        message = "on_session_ready is not async: write `async def on_session_ready(coordinator)`"
    elif not _count_required(function):
        message = "on_session_ready takes no coordinator: it needs one positional parameter"
    else:
        return None
    return ValidationCheck("on_session_ready_async", False, message)


def is_async(function: Any) -> bool:
    """Whether calling a function, or an object that can be called, gives a coroutine."""
    called = getattr(function, "__call__", None)  # noqa: B004 - of an object, not whether it has one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _count_required(function: Callable[..., Any]) -> int:
    """How many parameters a caller must give by position."""
    found = inspect.signature(function).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in positional and one.default is one.empty for one in found)


def import_module_from_path(module_path: str | Path) -> ModuleType:
    """The Python module in a file, in a package's folder, or in a folder that holds a package.

    Raises a ModuleError that says why it cannot be imported.
    """
    path = Path(module_path).expanduser().absolute()
    if not path.exists():
        raise ModuleNotFound(f"there is no file or folder '{module_path}'")
    package = find_package(path.name, path) if path.is_dir() else None
    if package is not None:
        with _importable(package.parent):
            return import_package(package)
    if path.is_dir() and not (path / "__init__.py").is_file():
        raise ModuleNotFound(f"the folder '{module_path}' has no __init__.py")
    return import_path(path)


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a package be imported by its own name, as it will be once it is installed."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with suppress(ValueError):  # the package has taken it away itself
            sys.path.remove(str(folder))

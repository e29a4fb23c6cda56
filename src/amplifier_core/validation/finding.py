"""The code behind what an author names: a file, the folder of a package, an import name, an id."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from amplifier_core.errors import ModuleNotFound
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.importing import (
    PREFIX,
    find_package,
    import_package,
    import_path,
    import_with,
    package_name,
)
from amplifier_core.loader.module import Mount, read_module


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
    return Code(code.python_module, code.origin, function_name=name) if name else code


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


def _import_path(given: Path) -> Code:
    path = given.expanduser().absolute()
    if not path.exists():
        raise ModuleNotFound(f"there is no file or folder '{given}'")
    package = find_package(path.name, path) if path.is_dir() else None
    if package is not None:
        with _importable(package.parent):
            return Code(import_package(package), str(package))
    if path.is_dir() and not (path / "__init__.py").is_file():
        raise ModuleNotFound(f"the folder '{given}' has no __init__.py")
    return Code(import_path(path), str(path))


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


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a package be imported by its own name, as it will be once it is installed."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with suppress(ValueError):  # the package has taken it away itself
            sys.path.remove(str(folder))

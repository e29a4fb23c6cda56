"""Importing modules from files and folders, as they are on disk now."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from amplifier_core.errors import LoadFailure, ModuleLoadError, ModuleValidationError
from amplifier_core.loader.failure import IMPORT_FAILURES, explain_import
from amplifier_core.loader.path_state import PathState, read_path_state
from amplifier_core.utils import describe_error, digest

PREFIX = "amplifier_module_"
"""What the names of packages begin with, before the id."""

Stamp = tuple[tuple[str, int, int], ...]

_stamps: dict[str, tuple[Path, Stamp]] = {}
"""Each package that was imported by its own name, with its files as they were then."""

_missing: dict[str, PathState] = {}
"""Each package that was looked for in vain, and the path as it was then."""

taken: dict[str, Any] = {}
"""What is imported from sources instead of the disk, by the name of its package."""


def package_name(module_id: str) -> str:
    """The name of the package that an id stands for; it need not be a valid one."""
    return PREFIX + module_id.replace("-", "_")


def find_package(module_id: str, folder: Path) -> Path | None:
    """The package of a module in a folder: the one of its id, the only one, or the folder."""
    if folder.name.startswith(PREFIX) and (folder / "__init__.py").is_file():
        return folder
    packages = [
        one
        for place in (folder, folder / "src")
        for one in place.glob(PREFIX + "*")
        if one.suffix in ("", ".py")
    ]
    named = [one for one in packages if one.stem == package_name(module_id)]
    found = named or packages
    return found[0] if len(found) == 1 else None


def is_importable(name: str) -> bool:
    """Whether a package can be imported by its name.

    One that came from a folder which is not on `sys.path` any more is another session's.
    """
    if name in taken and not taken[name].installed:
        # It came from a path of some session's own plan, and means nothing to others.
        if PathFinder.find_spec(name) is None:
            return False
        forget(name)
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if name in _stamps and loaded is not None and not _is_on_path(Path(loaded), name):
        forget(name)
    # What was put among the imported modules by hand has no spec, and asking for it is an error.
    if name in sys.modules:
        return True
    try:
        return _is_found(name)
    except ImportError:  # a finder refuses it
        return False


def _is_found(name: str) -> bool:
    """Whether a finder has a package; most ids have none, and looking along the path takes long."""
    state = read_path_state()
    if _missing.get(name) == state:
        # The others know what they know without the path, and may have learned of it since.
        others = [one for one in sys.meta_path if one is not PathFinder]
        return any(one.find_spec(name, None) for one in others if hasattr(one, "find_spec"))
    found = importlib.util.find_spec(name) is not None
    if not found and state.is_settled():
        _missing[name] = state
    return found


def _is_on_path(file: Path, name: str) -> bool:
    return str(file.parent if file.stem == name else file.parents[1]) in sys.path


def import_with(
    module_id: str, load: Callable[[], Any], reason_code: LoadFailure = "unknown"
) -> Any:
    """What an import brings; whatever it raises is a ModuleLoadError."""
    try:
        return load()
    except IMPORT_FAILURES as error:
        message = f"Module '{module_id}' cannot be imported: {describe_error(error)}"
        raise ModuleLoadError(message, module_id=module_id, reason_code=reason_code) from error


def import_package(package: Path) -> ModuleType:
    """Import a package by its own name, its folder being on `sys.path`.

    An earlier import from elsewhere, or from files that have changed since, is dropped first.
    """
    name, stamp = package.stem, _stamp(package)
    if not _is_current(name, package, stamp):
        forget(name)
        importlib.invalidate_caches()
    try:
        module = importlib.import_module(name)
    except IMPORT_FAILURES as error:
        forget(name)
        raise explain_import(package, error) from error
    _stamps[name] = (package, stamp)
    return module


def _is_current(name: str, package: Path, stamp: Stamp) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    expected = package if package.is_file() else package / "__init__.py"
    if file is None or Path(file).resolve() != expected.resolve():
        return False
    # Whoever imported it by hand since, after another of the same name, has the files of today.
    known, then = _stamps.get(name, (package, stamp))
    return known != package or then == stamp


def _stamp(package: Path) -> Stamp:
    files = sorted(package.rglob("*.py")) if package.is_dir() else [package]
    found = [(str(file), file.stat()) for file in files]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in found)


def choose_file_name(path: Path) -> str:
    """The name that a file or folder is imported by; two of one name are told apart."""
    return f"amplifier_file_{path.stem.replace('-', '_')}_{digest(str(path))[:8]}"


def import_path(path: Path) -> ModuleType:
    """Import a file, or a folder with an `__init__.py`, always as it is on disk now."""
    is_package = path.is_dir()
    file = path / "__init__.py" if is_package else path
    name = choose_file_name(path)
    spec = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=[str(path)] if is_package else None
    )
    if spec is None or not file.is_file():
        message = f"'{path}' is not a Python module"
        raise ModuleValidationError(message, reason_code="invalid_package_layout")
    module = importlib.util.module_from_spec(spec)
    forget(name)
    sys.modules[name] = module
    try:
        # The spec's loader would take a file cached in the same second for the one on disk.
        exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)
    except IMPORT_FAILURES as error:
        del sys.modules[name]
        raise explain_import(path, error) from error
    return module


def forget(name: str) -> None:
    """Drop an earlier import of a module and of its parts."""
    taken.pop(name, None)
    for stale in [one for one in sys.modules if one == name or one.startswith(name + ".")]:
        del sys.modules[stale]

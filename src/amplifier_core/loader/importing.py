"""Importing modules from files and folders, as they are on disk now."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from amplifier_core.errors import LoadFailure, ModuleLoadError, ModuleValidationError
from amplifier_core.utils import describe_error, digest

SETTLED = 2_000_000_000
"""After so many nanoseconds, a change has another time than the one before on any disk."""

Stamp = tuple[int, int, int, int] | None
"""Which file or folder it is, its time and its size; None if there is nothing."""


class PathState(NamedTuple):
    """Who looks for packages, and the folders and files that they look at, as they were."""

    finders: tuple[object, ...]
    places: tuple[tuple[str, Stamp], ...]

    def is_settled(self) -> bool:
        """Whether any change from now on will make another state of it."""
        latest = max((stamp[2] for _, stamp in self.places if stamp is not None), default=0)
        return time.time_ns() - latest > SETTLED


def read_path_state(files: Iterable[str] = ()) -> PathState:
    """The state as it is now; what comes into a folder of the path, or goes, changes the folder.

    Name the `files` that are read beside, as those can be changed in their place.
    """
    places = [(folder, _read_stamp(folder or ".")) for folder in sys.path]
    places += [(file, _read_stamp(file)) for file in files]
    return PathState(tuple(sys.meta_path), tuple(places))


def _read_stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)  # noqa: PTH116 - no Path is made for each folder and session
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


IMPORT_FAILURES = (Exception, SystemExit)
"""What importing a module may raise; one that exits must not end the program, and with code 0."""

PREFIX = "amplifier_module_"
"""What the names of packages begin with, before the id."""

PackageStamp = tuple[tuple[str, int, int], ...]

_stamps: dict[str, tuple[Path, PackageStamp]] = {}
"""Each package that was imported by its own name, with its files as they were then."""

_missing: dict[str, PathState] = {}
"""Each package that was not found, and the path as it was then."""

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
    if len(found) == 1:
        return found[0]
    return None


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
    if is_known_missing(name, state):
        # The others know what they know without the path, and may have learned of it since.
        others = [one for one in sys.meta_path if one is not PathFinder]
        return any(one.find_spec(name, None) for one in others if hasattr(one, "find_spec"))
    found = importlib.util.find_spec(name) is not None
    if not found and state.is_settled():
        _missing[name] = state
    return found


def is_known_missing(name: str, state: PathState) -> bool:
    """Whether the path was searched for a package in vain, and is in this state since."""
    return _missing.get(name) == state


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


def explain_import(start: Path, error: BaseException) -> ModuleLoadError:
    """Why a file or package cannot be imported, with the line of its own that failed."""
    told = describe_error(error)
    if not isinstance(error, SyntaxError):  # which says itself where it is
        for step, line in traceback.walk_tb(error.__traceback__):
            file = Path(step.f_code.co_filename)
            if file.is_relative_to(start):
                told = f"{describe_error(error)} ({file.name}, line {line})"
    return ModuleLoadError(f"'{start}' cannot be imported: {told}")


def import_package(package: Path) -> ModuleType:
    """Import a package by its own name, its folder being on `sys.path`.

    An earlier import from elsewhere, or from files that have changed since, is dropped first.
    """
    name = package.stem
    stamp = _stamp(package)
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


def _is_current(name: str, package: Path, stamp: PackageStamp) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    expected = package if package.is_file() else package / "__init__.py"
    if file is None or Path(file).resolve() != expected.resolve():
        return False
    # A later import by hand, after another of the same name, has read the files of today.
    known, then = _stamps.get(name, (package, stamp))
    return known != package or then == stamp


def _stamp(package: Path) -> PackageStamp:
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


INIT = "__init__.py"


class Sources(Protocol):
    """What may be imported, by absolute path."""

    def read(self, path: Path) -> bytes:
        """The bytes of a file; OSError if it is none of them."""
        ...

    def list_below(self, folder: Path) -> list[Path]:
        """The files in a folder and below it."""
        ...

    def governs(self, path: Path) -> bool:
        """Whether a path may be imported from these sources only, even if it is installed."""
        ...


def import_source(sources: Sources, path: Path, module_id: str) -> ModuleType:
    """The module in a file, in a package, or in a folder that holds its package."""
    files = sources.list_below(path)
    if not files:
        message = f"'{path}' is not among the files that were allowed to be loaded"
        raise ModuleLoadError(message, module_id=module_id)
    start = path if files == [path] else _find_start(module_id, path, files)
    named = start.name.startswith(PREFIX)
    return _Tree(sources, start, start.stem if named else choose_file_name(start)).load()


def claim(sources: Sources, start: Path, name: str) -> None:
    """Have an installed package imported from sources, whenever it is imported by its name."""
    tree = _Tree(sources, start, name, installed=True)
    if not tree.is_imported():
        forget(name)
    tree.register()


def release(sources: Sources) -> None:
    """Forget the packages that were claimed for these sources."""
    for name in [
        name for name, tree in taken.items() if tree.installed and tree.sources is sources
    ]:
        forget(name)


def _find_start(module_id: str, folder: Path, files: Sequence[Path]) -> Path:
    """The package of a module in a folder: the one of its id, the only one, or the folder."""
    if folder.name.startswith(PREFIX) and folder / INIT in files:
        return folder
    places = (folder, folder / "src")
    found = {one.parent for one in files if one.name == INIT and one.parent.parent in places}
    found |= {one for one in files if one.parent in places}
    packages = [one for one in found if one.name.startswith(PREFIX)]
    chosen = [one for one in packages if one.stem == package_name(module_id)] or packages
    if len(chosen) == 1:
        return chosen[0]
    if folder / INIT in files:
        return folder
    message = f"'{folder}' is not a Python module"
    raise ModuleValidationError(message, reason_code="invalid_package_layout")


@dataclass(frozen=True, slots=True)
class _Tree(InspectLoader):
    """A file or a package, and the name it is imported by."""

    sources: Sources
    start: Path
    name: str
    installed: bool = False

    def load(self) -> ModuleType:
        """Import it; the same files as before are the same module."""
        if self.is_imported():
            return sys.modules[self.name]
        forget(self.name)
        self.register()
        try:
            return importlib.import_module(self.name)
        except IMPORT_FAILURES as error:
            forget(self.name)
            raise explain_import(self.start, error) from error

    def register(self) -> None:
        """Make the name importable."""
        taken[self.name] = self
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)

    def is_imported(self) -> bool:
        """Whether it has been imported from the same files, and they said the same."""
        known = taken.get(self.name)
        if known is None or known.start != self.start or self.name not in sys.modules:
            return False
        return known.sources is self.sources or bool(self._read_all() == known._read_all())

    def _read_all(self) -> dict[Path, bytes]:
        return {path: self.sources.read(path) for path in self.sources.list_below(self.start)}

    def _get(self, fullname: str) -> tuple[Path, bool]:
        """The file of a name, and whether it is that of a package."""
        path = self.start.joinpath(*fullname.split(".")[1:])
        files = self.sources.list_below(self.start)
        for file, is_package in ((path / INIT, True), (path.with_name(f"{path.name}.py"), False)):
            if file in files:
                return file, is_package
        if path in files:
            return path, False
        raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

    def make_spec(self, fullname: str) -> ModuleSpec:
        """How to import a part; what is not among the sources is not looked for on disk."""
        file, is_package = self._get(fullname)
        spec = ModuleSpec(fullname, self, origin=str(file), is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [str(file.parent)]
        return spec

    def get_source(self, fullname: str) -> str:
        """Part of InspectLoader: tracebacks show it."""
        return importlib.util.decode_source(self._read(fullname))

    def exec_module(self, module: ModuleType) -> None:
        """Part of Loader."""
        code = compile(self._read(module.__name__), str(module.__file__), "exec", dont_inherit=True)
        exec(code, module.__dict__)

    def _read(self, fullname: str) -> bytes:
        return self.sources.read(self._get(fullname)[0])


class SourceFinder(MetaPathFinder):
    """Finds what was imported from sources, and its parts; before anything that looks on disk."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        tree: _Tree | None = taken.get(fullname.partition(".")[0])
        if tree is None:
            return None
        return tree.make_spec(fullname)


_finder = SourceFinder()

"""Importing modules from bytes that somebody has read and judged, not from the disk again.

Compiled files beside the sources are not looked at: whoever can write them could put anything
there. Nothing is added to `sys.path` either, where a file could take the place of another module.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Protocol

from amplifier_core.errors import ModuleLoadError, ModuleValidationError
from amplifier_core.loader.failure import IMPORT_FAILURES, explain_import
from amplifier_core.loader.importing import PREFIX, choose_file_name, forget, package_name, taken

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
        """Be found by whoever imports the name."""
        taken[self.name] = self
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)

    def is_imported(self) -> bool:
        """Whether it has been imported from the same files, and they said the same."""
        known = taken.get(self.name)
        if known is None or known.start != self.start or self.name not in sys.modules:
            return False
        return bool(self._read_all() == known._read_all())

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
        return None if tree is None else tree.make_spec(fullname)


_finder = SourceFinder()

"""While a session runs, nothing of its folder is imported but what a person has trusted."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from amplifier_core.loader.importing import SourceFinder, taken
from amplifier_hooks.machine.files import lies_in


class ImportGuard(MetaPathFinder):
    """Stands before all other finders, and passes over what they find in the folder.

    A folder can be on `sys.path`: by an editable install, by PYTHONPATH, by `python -m`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find elsewhere; ModuleNotFoundError if that is nothing."""
        if fullname.partition(".")[0] in taken:
            return None
        spec = find_unguarded(fullname, path)
        if spec is None or not any(lies_in(one, self.folder) for one in list_places(spec)):
            return spec
        elsewhere = [one for one in path or sys.path if not lies_in(Path(one or "."), self.folder)]
        spec = PathFinder.find_spec(fullname, elsewhere)
        if spec is None:
            message = f"{fullname!r} is in {self.folder} but is not part of what was trusted"
            raise ModuleNotFoundError(message, name=fullname)
        return spec


@contextmanager
def guard_imports(folder: Path) -> Iterator[None]:
    """Import nothing from a folder that is not among the sources of a loader."""
    guard = ImportGuard(folder)
    sys.meta_path.insert(0, guard)
    try:
        yield
    finally:
        sys.meta_path.remove(guard)


def find_unguarded(fullname: str, path: Sequence[str] | None = None) -> ModuleSpec | None:
    """Where a module would be imported from, were it not for guards and sources."""
    for finder in list(sys.meta_path):
        look = getattr(finder, "find_spec", None)
        if look is None or isinstance(finder, ImportGuard | SourceFinder):
            continue
        spec: ModuleSpec | None = look(fullname, path)
        if spec is not None:
            return spec
    return None


def list_places(spec: ModuleSpec) -> list[Path]:
    """The file of a module, or the folders of a package that has no file of its own."""
    if spec.has_location and spec.origin:
        return [Path(spec.origin)]
    return [Path(one) for one in spec.submodule_search_locations or ()]
